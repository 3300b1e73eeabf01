/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decisions by chance, for `chronicle record --chaos`. docs/chaos.md says what
 * is decided. All decisions follow from the seed and from what the program
 * does: there is one sequence of random numbers per thread, and one for the
 * choice of the thread that runs next.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CHAOS_CHAOS_H
#define CHRONICLE_RECORDER_TOOL_CHAOS_CHAOS_H

#include "recorder/tool/core/valgrind_core.h"

/* Whether there is chaos at all. */
extern Bool ch_chaos;
/* Whether there has been more than one thread. Until then the program's code is
   as without chaos. */
extern Bool ch_chaos_in_code;

void ch_chaos_init(ULong seed);
/* A forked child is not recorded, and is left in peace. */
void ch_chaos_end(void);

/* The next number of a sequence. */
ULong ch_random(ULong *state);
/* The sequence of a thread. */
ULong *ch_random_of(ThreadId tid);
/* A hash of a number and the seed. */
ULong ch_random_hash(ULong number);
/* True in one of `most` cases. */
static inline Bool ch_one_in(ULong *state, UInt most) {
  return ch_random(state) % most == 0;
}

/* Another thread is about to be created. */
void ch_chaos_thread_created(void);
/* A thread is about to run the program's code: chooses how long it may. */
void ch_chaos_stretch_begins(ThreadId tid);

#endif
