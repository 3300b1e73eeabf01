/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that Valgrind's core reports as written: mostly by system calls. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_CORE_WRITES_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_CORE_WRITES_H

#include "recorder/tool/core/valgrind_core.h"

void ch_core_writes_init(void);
/* The thread's system call may write there until it is over. For the calls that
   Valgrind does not report. */
void ch_call_will_write(ThreadId tid, Addr address, SizeT length);

#endif
