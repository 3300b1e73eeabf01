/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what system calls write without a report. Valgrind's wrappers of system
 * calls do not report everything (that of pselect6 reports nothing), so the
 * memory behind each argument is kept before the call and compared after it:
 * what has changed and was not logged is logged then.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_ARGUMENT_WINDOWS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_ARGUMENT_WINDOWS_H

#include "recorder/tool/core/valgrind_core.h"

/* Client code of some thread begins to run. */
void ch_windows_count_stretch(void);
/* Keeps what the arguments of the thread's system call point to. */
void ch_windows_keep(ThreadId tid, const UWord *args, UInt count);
/* Memory was just logged, so it does not have to be logged again when the
   thread's system call is over. */
void ch_windows_logged(ThreadId tid, Addr start, SizeT length);
/* Logs what the thread's system call changed and was not logged. Does nothing
   if another thread has run since the call began, because a change may be its.
 */
void ch_windows_log_changes(ThreadId tid);

#endif
