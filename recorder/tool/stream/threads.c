/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/stream/threads.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/stream/ring.h"

/* The guest state begins with two words for Valgrind's event counter, which are
   no registers of the program. */
#define FIRST_REGISTER_WORD 2
#define STATE_WORDS (CH_GUEST_STATE_SIZE / 8)

UInt ch_threads_alive;

static CH_GROWING_ARRAY(struct ch_thread) threads; /* by thread id */
static UInt threads_made;

struct ch_thread *ch_thread_of(ThreadId tid) {
  ch_array_reserve(&threads, tid + 1);
  return &threads.items[tid];
}

UInt ch_thread_number(ThreadId tid) {
  return tid == VG_INVALID_THREADID ? 0 : ch_thread_of(tid)->number;
}

void ch_thread_add(ThreadId tid, ThreadId parent) {
  struct ch_thread *t = ch_thread_of(tid);
  VG_(memset)(t, 0, sizeof *t);
  t->number = ++threads_made;
  t->parent = ch_thread_number(parent);
}

void ch_threads_in_child(ThreadId tid) {
  if (threads.capacity)
    VG_(memset)(threads.items, 0, threads.capacity * sizeof *threads.items);
  threads_made = 0;
  ch_threads_alive = 1;
  ch_thread_add(tid, VG_INVALID_THREADID);
}

void ch_thread_read_registers(ThreadId tid, UChar *state) {
  VG_(get_shadow_regs_area)(tid, state, 0, 0, CH_GUEST_STATE_SIZE);
}

void ch_thread_log_snapshot(struct ch_thread *t) {
  struct ch_ev_snapshot *e =
      ch_event(CH_EV_SNAPSHOT, sizeof *e + CH_GUEST_STATE_SIZE);
  e->thread = t->number;
  VG_(memcpy)(e + 1, t->state, CH_GUEST_STATE_SIZE);
  VG_(memset)(e + 1, 0, FIRST_REGISTER_WORD * 8);
  t->snapshot_block = ch_block_number + 1;
}

void ch_thread_log_changes(const struct ch_thread *t, const UChar *state,
                           const UChar *before) {
  const ULong *now = (const ULong *)state, *then = (const ULong *)before;
  UInt changed = 0;
  for (UInt i = FIRST_REGISTER_WORD; i < STATE_WORDS; i++)
    changed += !then || now[i] != then[i];
  if (!changed)
    return;
  struct ch_ev_registers *e =
      ch_event(CH_EV_REGISTERS, sizeof *e + changed * 16);
  e->thread = t->number;
  e->count = changed;
  ULong *p = (ULong *)(e + 1);
  for (UInt i = FIRST_REGISTER_WORD; i < STATE_WORDS; i++)
    if (!then || now[i] != then[i]) {
      *p++ = i * 8;
      *p++ = now[i];
    }
}

void ch_threads_log_final_snapshots(void) {
  for (ThreadId tid = 1; tid < threads.capacity; tid++)
    if (threads.items[tid].number && threads.items[tid].has_state)
      ch_thread_log_snapshot(&threads.items[tid]);
}
