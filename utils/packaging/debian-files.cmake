# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Gives a Debian package the files that Debian's policy wants: manual pages and
# the changelog compressed, no copy of a licence that Debian has. cpack runs this
# between installing into a folder and packing it.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
set(SHARE ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
file(REMOVE ${SHARE}/doc/chronicle/LICENSE)
file(GLOB PAGES ${SHARE}/man/man*/*.[1-9])
execute_process(COMMAND gzip -9n ${SHARE}/doc/chronicle/changelog ${PAGES}
  COMMAND_ERROR_IS_FATAL ANY)
# Where Debian's zsh looks for completions of packages.
file(RENAME ${SHARE}/zsh/site-functions ${SHARE}/zsh/vendor-completions)
