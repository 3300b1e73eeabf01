# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What cpack makes: a Debian package and an archive that works wherever it is
# unpacked. utils/package builds the release and calls it.
set(PACKAGING ${CMAKE_SOURCE_DIR}/utils/packaging)
install(FILES ${PACKAGING}/copyright ${PACKAGING}/changelog ${CMAKE_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/chronicle)

set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME chronicle)
set(CPACK_PACKAGE_VENDOR Chronicle)
set(CPACK_PACKAGE_CONTACT "Chronicle <chronicle@localhost.localdomain>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "time-travel debugger for C and C++ programs")
set(CPACK_PACKAGE_FILE_NAME chronicle-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PACKAGING}/debian-files.cmake)

# dpkg-shlibdeps adds the libraries. Valgrind's core is linked into the tool, so
# the package valgrind is not needed.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS lldb-22)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libc6-dbg)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS gdb)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Records a whole run of a program once, every instruction of it, into one file.
Afterwards every question about any moment of that run has an exact answer in
LLDB: what was the value, what wrote it, how did the program get here.
.
It needs no hardware counters, no root and no kernel support.")
include(CPack)
