/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the system calls under way may write.
 *
 * While a thread is blocked in a call, the kernel may already have filled the
 * call's buffer, and other threads run. In the trace the new contents belong to
 * the end of the call. So this memory is not audited, and the bytes that the
 * trace has there are kept until the call ends: when other threads store to the
 * same granules, what they stored is sent without what the kernel wrote, and at
 * the end of the call the bytes that nothing else has logged are the kernel's.
 *
 * Cost: one copy of the targets, of at most CH_MOST_KEPT bytes each, and for
 * each page that is sent while a call is under way a look at all targets.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_CALL_TARGETS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_CALL_TARGETS_H

#include "recorder/tool/core/valgrind_core.h"

/* Of a larger target only the beginning and the end are kept, half of this
   each. The program must not store to the rest while the call is under way. */
#define CH_MOST_KEPT (64 << 10)

enum ch_target_kind {
  CH_TARGET_REPORTED, /* Valgrind reports what a successful call wrote there */
  CH_TARGET_WRITTEN,  /* a successful call has written all of it */
  CH_TARGET_MAYBE,    /* the call may have changed some of it */
  CH_TARGET_WINDOW,   /* the same, but nothing is known about the call */
};

/* The thread's call may write [start, end). What the program stored there is
   sent, if other threads may run before the call ends. */
void ch_call_targets_add(ThreadId tid, Addr start, Addr end,
                         enum ch_target_kind kind);

enum ch_call_outcome {
  CH_CALL_SUCCEEDED,
  CH_CALL_FAILED,
  CH_CALL_FAULTED,   /* with EFAULT, perhaps in the middle of its buffers */
  CH_CALL_ABANDONED, /* it will be made again, or its thread ends */
};
/* The thread's call is over. Logs what it wrote, as far as that has not been
   logged, and forgets its targets. */
void ch_call_targets_finish(ThreadId tid, enum ch_call_outcome outcome);

/* In a forked child: no call is under way, and what the one that made it wrote
   is part of the memory that the child begins with. */
void ch_call_targets_in_child(void);

/* Client code of some thread begins to run. */
void ch_call_targets_count_stretch(void);
/* The bytes were logged as they are now. */
void ch_call_targets_logged(Addr start, SizeT length);
/* Something else is mapped there now, or nothing. */
void ch_call_targets_forget(Addr start, Addr end);
/* Whether a call under way may write somewhere in [start, end). */
Bool ch_call_targets_overlap(Addr start, Addr end);
/* Stores of the program to the page are about to be sent. `bytes` is what the
   page holds; `marks` is not 0 where the program stored. Takes out of `bytes`
   what calls under way may have written. */
void ch_call_targets_separate(Addr page, UChar *bytes, const UChar *marks);
/* Takes out of `bytes`, which memory holds at `start`, what calls under way may
   have written. */
void ch_call_targets_undo(Addr start, UChar *bytes, SizeT length);
/* The trace has these bytes at `start`. */
void ch_call_targets_learn(Addr start, const UChar *bytes, SizeT length);

#endif
