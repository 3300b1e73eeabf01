/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads are created and end. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_THREAD_LIFE_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_THREAD_LIFE_H

#include "recorder/tool/core/valgrind_core.h"

void ch_thread_life_init(void);
void ch_log_thread_start(ThreadId tid);
/* The clone call under way asks the kernel to clear this word when the new
   thread ends (0: none). */
void ch_expect_clear_tid(Addr word);

#endif
