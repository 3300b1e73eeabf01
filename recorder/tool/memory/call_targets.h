/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the system calls under way may write.
 *
 * While a thread is blocked in a call, the kernel may already have filled the
 * call's buffer, and other threads run. In the trace the new contents belong to
 * the end of the call. So this memory is not audited, and when a granule is
 * logged that the buffer shares with bytes that other threads store to, it is
 * logged without the bytes the kernel wrote.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_CALL_TARGETS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_CALL_TARGETS_H

#include "recorder/tool/core/valgrind_core.h"

/* The thread's call may write [start, end). `keep_ends`: other threads may run
   before the call ends, so the granules that the range covers only partly are
   kept as they are now. Does nothing if they cannot be read, because then the
   kernel cannot write there either. */
void ch_call_targets_add(ThreadId tid, Addr start, Addr end, Bool keep_ends);
/* The thread's call is over, or it has none. */
void ch_call_targets_remove(ThreadId tid);
/* Whether a call under way may write somewhere in [start, end). */
Bool ch_call_targets_overlap(Addr start, Addr end);
/* The granule at the address, which holds `now`, without what a call under way
   may have written to a part of it. */
ULong ch_call_targets_undo(Addr granule, ULong now);

#endif
