/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

#define FUTEX_WAITERS 0x80000000
#define FUTEX_OWNER_DIED 0x40000000
#define FUTEX_TID_MASK 0x3fffffff
#define MOST_ROBUST 2048 /* entries; the kernel looks at no more either */

Bool ch_program_ends;
UInt ch_exit_status;
static Addr expected_clear_tid, expected_set_tid;

void ch_expect_thread_words(Addr clear_tid, Addr set_tid) {
  expected_clear_tid = clear_tid;
  expected_set_tid = set_tid;
}

void ch_log_thread_start(ThreadId tid) {
  const struct ch_thread *t = ch_thread_of(tid);
  struct ch_ev_thread_start *e = ch_event(CH_EV_THREAD_START, sizeof *e);
  e->thread = t->number;
  e->parent = t->parent;
  e->os_thread = sr_Res(VG_(do_syscall)(__NR_gettid, 0, 0, 0, 0, 0, 0, 0, 0));
}

void ch_thread_life_in_child(ThreadId tid) {
  ch_threads_in_child(tid);
  ch_thread_of(tid)->clear_tid = expected_clear_tid;
  ch_expect_thread_words(0, 0);
  ch_log_thread_start(tid);
}

static void thread_created(ThreadId parent, ThreadId child) {
  ch_threads_alive++;
  ch_thread_add(child, parent);
  ch_thread_of(child)->clear_tid = expected_clear_tid;
  ch_thread_of(child)->set_tid = expected_set_tid;
  ch_expect_thread_words(0, 0);
  /* The first one comes by itself. */
  if (parent != VG_INVALID_THREADID)
    ch_chaos_thread_created();
}

static void thread_first_instruction(ThreadId tid) {
  struct ch_thread *t = ch_thread_of(tid);
  if (!ch_recording || !ch_started)
    return;
  ch_log_thread_start(tid);
  if (t->set_tid)
    ch_contents_log(t->set_tid, 4, CH_MEM_THREAD, tid, True);
}

/* The kernel would clear the word and wake its waiters only after Valgrind has
   lost sight of the thread. So this is done here, and the kernel is asked not
   to do it. If the whole program ends, the word stays: memory at the end of the
   run is that of the living threads, as in a core file. */
static void clear_tid(ThreadId tid, Addr word) {
  VG_(do_syscall)(__NR_set_tid_address, 0, 0, 0, 0, 0, 0, 0, 0);
  if (ch_program_ends || !ch_threads_alive)
    return;
  *(volatile UInt *)word = 0;
  ch_contents_log(word, 4, CH_MEM_THREAD, tid, True);
  ch_event_commit();
  ch_futex_wake((UInt *)word);
}

/* The futex that an entry of a robust list stands for has this owner, who is
   about to die. */
static void leave_robust_futex(ThreadId tid, Addr word, Bool wake) {
  if (word % 4 || !VG_(am_is_valid_for_client)(word, 4, VKI_PROT_WRITE))
    return;
  UInt *futex = (UInt *)word;
  UInt value = __atomic_load_n(futex, __ATOMIC_SEQ_CST);
  do
    if ((value & FUTEX_TID_MASK) != (UInt)VG_(gettid)())
      return;
  while (!__atomic_compare_exchange_n(
      futex, &value, (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED, False,
      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  ch_contents_log(word, 4, CH_MEM_THREAD, tid, True);
  ch_event_commit();
  if (wake && (value & FUTEX_WAITERS))
    ch_futex_wake(futex);
}

/* The kernel walks the list of robust futexes after Valgrind has lost sight of
   the thread. So this is done here as the kernel does it, and the kernel is
   asked not to. */
static void leave_robust_futexes(ThreadId tid) {
  struct robust_list_head {
    Addr first;
    Long offset; /* of the futex, from its entry */
    Addr pending;
  } head;
  Addr at = 0;
  SizeT size = 0;
  SysRes r = VG_(do_syscall)(__NR_get_robust_list, 0, (UWord)&at, (UWord)&size,
                             0, 0, 0, 0, 0);
  if (sr_isError(r) || !at ||
      ch_memory_read(at, &head, sizeof head) != sizeof head)
    return;
  VG_(do_syscall)(__NR_set_robust_list, 0, sizeof head, 0, 0, 0, 0, 0, 0);
  /* The lowest bit of an entry is set if its futex inherits priorities. Then
     the kernel itself wakes the waiter when the thread ends. */
  Addr entry = head.first;
  for (UInt left = MOST_ROBUST; left && (entry & ~1ul) != at; left--) {
    Addr next;
    if (ch_memory_read(entry & ~1ul, &next, sizeof next) != sizeof next)
      break;
    if (entry != head.pending)
      leave_robust_futex(tid, (entry & ~1ul) + head.offset, !(entry & 1));
    entry = next;
  }
  if (head.pending)
    leave_robust_futex(tid, (head.pending & ~1ul) + head.offset,
                       !(head.pending & 1));
}

static void thread_exits(ThreadId tid) {
  struct ch_thread *t = ch_thread_of(tid);
  ch_threads_alive--;
  if (!ch_recording || !t->number)
    return;
  ch_call_targets_finish(tid, CH_CALL_ABANDONED);
  if (t->has_state) {
    ch_thread_log_snapshot(t);
    t->has_state = False;
  }
  struct ch_ev_thread *e = ch_event(CH_EV_THREAD_EXIT, sizeof *e);
  e->thread = t->number;
  leave_robust_futexes(tid);
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
