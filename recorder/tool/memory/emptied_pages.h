/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that madvise empties. Valgrind does not report them, and a call that
 * fails may have emptied some. Only pages that exist can become empty, so those
 * are found before the call: programs reserve, and empty, a TiB that they have
 * hardly written to.
 *
 * Cost: one look at /proc/self/pagemap per 2 MiB in which pages exist (before
 * Linux 6.7, per 2 MiB of the range), and what the pages that existed hold,
 * unless they are known to be zero.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_EMPTIED_PAGES_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_EMPTIED_PAGES_H

#include "recorder/tool/core/valgrind_core.h"

/* Calls `act` for the parts of [start, end) that have pages and for those that
   have none. */
void ch_each_run_of_pages(Addr start, Addr end,
                          void (*act)(ThreadId, Addr, Addr, Bool exist),
                          ThreadId tid);

/* Whether a call of madvise with this advice may empty pages. */
Bool ch_advice_empties(Int advice);
/* The call under way has this advice for the range. What was stored there must
   have been sent. No client code may run until the call is over. */
void ch_emptied_pages_expect(Addr start, SizeT length, Int advice);
/* The call is over: logs what it changed. */
void ch_emptied_pages_log(ThreadId tid, Bool succeeded);

#endif
