/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread runs next. Valgrind's threads wait for its big lock, which the
 * kernel gives to any of them; under chaos they wait for their turn first.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CHAOS_TURNS_H
#define CHRONICLE_RECORDER_TOOL_CHAOS_TURNS_H

#include "recorder/tool/core/valgrind_core.h"

void ch_turns_init(ULong random);
/* The thread that has the turn is this one. */
void ch_turn_is_of(ThreadId tid);
/* The thread that has the turn is left out of this many choices. */
void ch_turn_skip(UInt choices);
/* A thread will come that has not been here yet. */
void ch_turns_expect_thread(void);

#endif
