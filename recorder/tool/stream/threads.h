/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program's threads: their numbers in the trace and their registers. */
#ifndef CHRONICLE_RECORDER_TOOL_STREAM_THREADS_H
#define CHRONICLE_RECORDER_TOOL_STREAM_THREADS_H

#include "recorder/tool/core/valgrind_core.h"

struct ch_thread {
  UInt number; /* in the trace, from 1; 0: there is no such thread */
  UInt parent;
  UInt snapshot_block; /* 1 + the last block that has a snapshot of it */
  Bool has_state;
  Addr clear_tid; /* the word that the kernel zeroes when the thread ends */
  Addr set_tid;   /* the word that has its number when it begins */
  UChar state[CH_GUEST_STATE_SIZE]; /* when the thread last stopped */
};

/* Threads that were created and have not ended. Some may not have run yet. */
extern UInt ch_threads_alive;

/* By Valgrind's thread id, which Valgrind reuses. Valid until the next call
   with a larger id. */
struct ch_thread *ch_thread_of(ThreadId tid);
/* Its number in the trace; 0 for VG_INVALID_THREADID. */
UInt ch_thread_number(ThreadId tid);
/* Gives the thread id to a new thread. */
void ch_thread_add(ThreadId tid, ThreadId parent);

/* In a forked child: of all threads there is only this one, and it is the
   first. */
void ch_threads_in_child(ThreadId tid);

/* Copies the thread's registers as they are now. */
void ch_thread_read_registers(ThreadId tid, UChar *state);
/* Logs the registers of the thread's last stop, whole. */
void ch_thread_log_snapshot(struct ch_thread *t);
/* Logs the words of `state` that differ from `before`; all if that is NULL. */
void ch_thread_log_changes(const struct ch_thread *t, const UChar *state,
                           const UChar *before);
/* Logs a snapshot of every thread that has one to give. */
void ch_threads_log_final_snapshots(void);

#endif
