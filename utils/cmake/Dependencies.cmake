# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds what Chronicle needs, and names the Debian package when it is missing.

function(chronicle_missing WHAT PACKAGE)
  message(FATAL_ERROR
    "${WHAT} was not found. On Debian install ${PACKAGE} (utils/setup does it).")
endfunction()

# No version here: LLVM's own check wants the minor one too. Debian's place comes
# first, because another LLVM may be the default; -DLLVM_DIR overrides both.
find_package(LLVM CONFIG QUIET PATHS /usr/lib/llvm-22 NO_DEFAULT_PATH)
if(NOT LLVM_FOUND)
  find_package(LLVM CONFIG QUIET)
endif()
if(NOT LLVM_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
  chronicle_missing("LLVM 22" llvm-22-dev)
endif()
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

find_path(VALGRIND_INCLUDE_DIR pub_tool_basics.h PATH_SUFFIXES valgrind)
find_library(VALGRIND_COREGRIND coregrind-amd64-linux PATH_SUFFIXES valgrind)
find_library(VALGRIND_VEX vex-amd64-linux PATH_SUFFIXES valgrind)
find_library(VALGRIND_GCC_SUP gcc-sup-amd64-linux PATH_SUFFIXES valgrind)
foreach(PART VALGRIND_INCLUDE_DIR VALGRIND_COREGRIND VALGRIND_VEX VALGRIND_GCC_SUP)
  if(NOT ${PART})
    chronicle_missing("Valgrind's tool development files (${PART})" valgrind)
  endif()
endforeach()

find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(NOT ZSTD_INCLUDE_DIR OR NOT ZSTD_LIBRARY)
  chronicle_missing("zstd" libzstd-dev)
endif()
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  chronicle_missing("zlib" zlib1g-dev)
endif()
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  chronicle_missing("GoogleTest" libgtest-dev)
endif()
find_package(benchmark QUIET)
if(NOT benchmark_FOUND)
  chronicle_missing("Google Benchmark" libbenchmark-dev)
endif()
find_package(Threads REQUIRED)
