# SPDX-License-Identifier: GPL-2.0-or-later
# Writes a C initialiser {Iop_X, "X"} for each operation of libvex_ir.h: VEX has
# no public table of their names. The compiler supplies the values.
file(READ ${HEADER} TEXT)
string(FIND "${TEXT}" "Iop_INVALID" BEGIN)
string(FIND "${TEXT}" "Iop_LAST" END)
math(EXPR LENGTH "${END} - ${BEGIN}")
string(SUBSTRING "${TEXT}" ${BEGIN} ${LENGTH} TEXT)
string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" TEXT "${TEXT}")
string(REGEX MATCHALL "Iop_[A-Za-z0-9_]+" NAMES "${TEXT}")
list(REMOVE_DUPLICATES NAMES)
set(LINES "")
foreach(NAME ${NAMES})
  string(REGEX REPLACE "^Iop_" "" SHORT ${NAME})
  string(APPEND LINES "{${NAME}, \"${SHORT}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${LINES}")
