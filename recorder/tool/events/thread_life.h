/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads are created and end. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_THREAD_LIFE_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_THREAD_LIFE_H

#include "recorder/tool/core/valgrind_core.h"

/* The program is ending as a whole. Threads end because of it, not by
   themselves. */
extern Bool ch_program_ends;
/* What the program or its last thread gave to exit. */
extern UInt ch_exit_status;

void ch_thread_life_init(void);
void ch_log_thread_start(ThreadId tid);
/* In a forked child: the thread begins the trace. */
void ch_thread_life_in_child(ThreadId tid);
/* The clone call under way asks the kernel to clear one word when the new
   thread ends, and to write its number to another when it begins (0: none). */
void ch_expect_thread_words(Addr clear_tid, Addr set_tid);

#endif
