/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

static Addr expected_clear_tid;

void ch_expect_clear_tid(Addr word) { expected_clear_tid = word; }

void ch_log_thread_start(ThreadId tid) {
  const struct ch_thread *t = ch_thread_of(tid);
  struct ch_ev_thread_start *e = ch_event(CH_EV_THREAD_START, sizeof *e);
  e->thread = t->number;
  e->parent = t->parent;
  e->os_thread = sr_Res(VG_(do_syscall)(__NR_gettid, 0, 0, 0, 0, 0, 0, 0, 0));
}

static void thread_created(ThreadId parent, ThreadId child) {
  ch_threads_alive++;
  ch_thread_add(child, parent);
  ch_thread_of(child)->clear_tid = expected_clear_tid;
  expected_clear_tid = 0;
}

static void thread_first_instruction(ThreadId tid) {
  if (ch_recording && ch_started)
    ch_log_thread_start(tid);
}

/* The kernel would clear the word and wake its waiters only after Valgrind has
   lost sight of the thread. So this is done here, and the kernel is asked not
   to do it. */
static void clear_tid(ThreadId tid, Addr word) {
  VG_(do_syscall)(__NR_set_tid_address, 0, 0, 0, 0, 0, 0, 0, 0);
  *(volatile UInt *)word = 0;
  ch_contents_log(word, 4, CH_MEM_THREAD, tid, True);
  ch_event_commit();
  ch_futex_wake((UInt *)word);
}

static void thread_exits(ThreadId tid) {
  struct ch_thread *t = ch_thread_of(tid);
  ch_threads_alive--;
  if (!ch_recording || !t->number)
    return;
  ch_call_targets_remove(tid);
  if (t->has_state) {
    ch_thread_log_snapshot(t);
    t->has_state = False;
  }
  struct ch_ev_thread *e = ch_event(CH_EV_THREAD_EXIT, sizeof *e);
  e->thread = t->number;
  if (t->clear_tid &&
      VG_(am_is_valid_for_client)(t->clear_tid, 4, VKI_PROT_WRITE))
    clear_tid(tid, t->clear_tid);
  t->clear_tid = 0;
  t->number = 0;
}

void ch_thread_life_init(void) {
  VG_(track_pre_thread_ll_create)(thread_created);
  VG_(track_pre_thread_first_insn)(thread_first_instruction);
  VG_(track_pre_thread_ll_exit)(thread_exits);
}
