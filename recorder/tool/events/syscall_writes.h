/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which memory a system call may write (syscall_writes.def), beyond what
   Valgrind's wrappers report, and what the wrappers do not know about. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALL_WRITES_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALL_WRITES_H

#include "recorder/tool/core/valgrind_core.h"

/* The thread makes the call: its targets become known (memory/call_targets.h).
   Whatever an unknown call changes in the first bytes behind an argument is
   found, too. */
void ch_syscall_will_write(ThreadId tid, UInt number, const UWord *args);

#endif
