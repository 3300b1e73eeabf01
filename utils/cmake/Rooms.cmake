# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# chronicle_room(<library> [SOURCES <file>...] [USES <library>...] [PRIVATE <library>...])
#
# Makes the static library of a room from the sources in its folder. USES lists
# the rooms and libraries that the room's headers may include; PRIVATE lists
# libraries that only its sources use. A room without sources is header-only.
function(chronicle_room NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  if(ARG_SOURCES)
    add_library(${NAME} STATIC ${ARG_SOURCES})
    target_link_libraries(${NAME} PUBLIC chronicleFlags ${ARG_USES} PRIVATE ${ARG_PRIVATE})
    chronicle_precompile(${NAME})
  else()
    add_library(${NAME} INTERFACE)
    target_link_libraries(${NAME} INTERFACE chronicleFlags ${ARG_USES})
  endif()
endfunction()

# Parsing LLVM's headers is most of what compiling a file costs. With the first
# option a room is one file for the compiler, so its headers are parsed once: two
# files of a room cannot have the same name for something of their own. With the
# second, the headers that most rooms use are parsed once for all of them. A
# release and a new directory of utils/check are built with both. They are off by
# default, so that a change compiles one file only and a file which lacks an
# include does not compile.
option(CHRONICLE_UNITY "Compile each room as one file" OFF)
set(CMAKE_UNITY_BUILD ${CHRONICLE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
if(CHRONICLE_UNITY)
  # GCC inlines more and then warns of optionals that are checked.
  target_compile_options(chronicleFlags INTERFACE -Wno-maybe-uninitialized)
endif()
option(CHRONICLE_PRECOMPILE "Precompile LLVM's headers" OFF)
if(CHRONICLE_PRECOMPILE)
  # ccache keeps objects made with precompiled headers only if it is allowed to.
  if(CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/Precompiled.cpp "")
  add_library(chroniclePrecompiled OBJECT ${CMAKE_BINARY_DIR}/Precompiled.cpp)
  target_link_libraries(chroniclePrecompiled PUBLIC chronicleFlags)
  target_precompile_headers(chroniclePrecompiled PRIVATE
    <algorithm> <array> <atomic> <functional> <list> <map> <memory> <mutex>
    <optional> <string> <thread> <vector>
    <llvm/ADT/ArrayRef.h> <llvm/ADT/DenseMap.h> <llvm/ADT/STLExtras.h>
    <llvm/ADT/SmallVector.h> <llvm/ADT/StringExtras.h>
    <llvm/Support/Error.h> <llvm/Support/FormatVariadic.h>
    <llvm/Support/JSON.h> <llvm/Support/MemoryBuffer.h>
    <llvm/Support/raw_ostream.h>)
endif()

# chronicle_precompile(<target>): lets it use the precompiled headers, if any.
function(chronicle_precompile NAME)
  if(CHRONICLE_PRECOMPILE)
    target_precompile_headers(${NAME} REUSE_FROM chroniclePrecompiled)
    # They are compiled for libraries: -fPIE, which programs get, does not fit. ccache needs the
    # second option to know which headers were used.
    target_compile_options(${NAME} PRIVATE -fPIC -fpch-preprocess)
  endif()
endfunction()
