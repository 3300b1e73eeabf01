/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process becomes another program. If `chronicle record` wants that one
 * recorded, too, the recorder is executed again, with it.
 */
#ifndef CHRONICLE_RECORDER_TOOL_PROCESSES_EXEC_H
#define CHRONICLE_RECORDER_TOOL_PROCESSES_EXEC_H

#include "recorder/tool/core/valgrind_core.h"

/* `number`: that of this recording. */
void ch_exec_init(UInt number);

/* If the recorder was executed by another recorder, the first argument of the
   program stands behind its path on the recorder's command line. These put it
   where it belongs: for what the core does, once the options are known, and on
   the program's stack before its first instruction. */
void ch_exec_take_first_argument(void);
void ch_exec_restore_first_argument(ThreadId tid);
/* Makes /proc/self/cmdline show the arguments on the program's stack. */
void ch_exec_restore_command_line(ThreadId tid);

/* The path that the kernel would have been given, to name the process by. */
const HChar *ch_exec_path(void);

#endif
