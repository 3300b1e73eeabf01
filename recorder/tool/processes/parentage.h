/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's place among the processes. Its parent is `chronicle record`,
 * which stands where the program would be without Chronicle: it has the number
 * that the program's parent knows, and may lead the process group. Wrappers of
 * system calls hide the difference; docs/recorder.md lists them.
 */
#ifndef CHRONICLE_RECORDER_TOOL_PROCESSES_PARENTAGE_H
#define CHRONICLE_RECORDER_TOOL_PROCESSES_PARENTAGE_H

#include "recorder/tool/core/valgrind_core.h"

/* False: `chronicle record` did not start this process, but a recorded one. To
   be set before ch_parentage_init(). */
extern Bool ch_started_as_program;

/* Prepares the wrappers. */
void ch_parentage_init(void);
/* Whether this process is the one that `chronicle record` started and stands
   for. False in a forked child. */
Bool ch_is_program(void);

#endif
