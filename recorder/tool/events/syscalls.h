/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: number, arguments, result, what they print, and those of their
   effects on memory that Valgrind's wrappers do not report. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALLS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALLS_H

#include "recorder/tool/core/valgrind_core.h"

void ch_syscalls_init(void);
/* Whether the call under way, which makes a process, gives it memory of its
   own. If not, the process runs in its parent's memory until it executes a
   program (vfork, posix_spawn). */
Bool ch_syscalls_copy_memory(void);
/* In a forked child: logs the call that made it, whose result will follow. */
void ch_syscalls_log_fork(ThreadId tid);

#endif
