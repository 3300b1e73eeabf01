/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/syscalls.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/events/file_writes.h"
#include "recorder/tool/events/passed_descriptors.h"
#include "recorder/tool/events/signals.h"
#include "recorder/tool/events/stop_signals.h"
#include "recorder/tool/events/syscall_writes.h"
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/emptied_pages.h"
#include "recorder/tool/memory/heap_end.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

#define MAX_IOV 1024

/* ---- output ---- */

static void log_output(ThreadId tid, UWord descriptor, Addr from,
                       SizeT length) {
  /* A write that is larger than an event becomes several. */
  while (length) {
    SizeT n = length < CH_MEMORY_RECORD_BYTES ? length : CH_MEMORY_RECORD_BYTES;
    struct ch_ev_output *e = ch_event(CH_EV_OUTPUT, sizeof *e + n);
    e->thread = ch_thread_number(tid);
    e->descriptor = descriptor;
    VG_(memcpy)(e + 1, (void *)from, n);
    from += n;
    length -= n;
  }
}

static void log_output_vector(ThreadId tid, UWord descriptor, Addr vector,
                              SizeT count, SizeT length) {
  struct vki_iovec *iov = (struct vki_iovec *)vector;
  for (SizeT i = 0; i < count && i < MAX_IOV && length; i++) {
    SizeT n = iov[i].iov_len < length ? iov[i].iov_len : length;
    log_output(tid, descriptor, (Addr)iov[i].iov_base, n);
    length -= n;
  }
}

/* ---- before the call ---- */

/* Sends what was stored where the call may change the memory map, and notes
   what cannot be seen once the call is made. */
static void prepare(ThreadId tid, UInt number, const UWord *args) {
  switch (number) {
  case __NR_mmap:
    ch_mappings_expect_shared((args[3] & VKI_MAP_SHARED) != 0, args[4], 0);
    if (args[3] & VKI_MAP_FIXED)
      ch_marks_send_range(args[0], args[0] + args[1]);
    else
      ch_marks_expect_hint(args[1]);
    break;
  case __NR_munmap:
  case __NR_mremap:
  case __NR_mprotect:
  case __NR_pkey_mprotect:
    ch_marks_send_range(args[0], args[0] + args[1]);
    break;
  case __NR_madvise:
    ch_marks_send_range(args[0], args[0] + args[1]);
    ch_emptied_pages_expect(args[0], args[1], args[2]);
    break;
  case __NR_userfaultfd:
    ch_read_through_kernel(True);
    break;
  case __NR_brk:
    ch_heap_end_expect(args[0]);
    /* fallthrough */
  case __NR_shmdt:
    ch_marks_send_range(args[0], ~0ull);
    break;
  case __NR_shmat:
    ch_mappings_expect_shared(True, -1, args[0] + 1);
    break;
  case __NR_io_setup:
  case __NR_io_uring_setup:
    /* The kernel will write the memory that the program names in later calls,
       at any time between them. */
    ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
    break;
  case __NR_futex: {
    const UWord operation = args[1] & CH_FUTEX_COMMAND;
    /* While the thread waits for the lock, the kernel changes its word, which
       the owner reads. */
    if (operation == VKI_FUTEX_LOCK_PI)
      ch_mappings_watch_word(args[0]);
    if (operation == VKI_FUTEX_WAIT_REQUEUE_PI)
      ch_mappings_watch_word(args[4]);
    break;
  }
  case __NR_sendmsg:
  case __NR_sendmmsg:
    if (ch_passes_descriptors(number, args))
      ch_mappings_before_sharing();
    break;
  case __NR_clone:
    ch_expect_thread_words(args[0] & VKI_CLONE_CHILD_CLEARTID ? args[3] : 0,
                           args[0] & VKI_CLONE_CHILD_SETTID ? args[3] : 0);
    break;
  case __NR_exit:
    ch_exit_status = args[0] & 0xff;
    break;
  case __NR_exit_group:
    ch_exit_status = args[0] & 0xff;
    ch_program_ends = True;
    break;
  case __NR_execve:
  case __NR_execveat:
    /* If it succeeds the recorder is gone, so everything is sent now. */
    ch_marks_send_all();
    ch_ring_publish(0);
    break;
  default:
    break;
  }
}

/* The last call that makes processes. */
static struct ch_ev_syscall_enter making;

Bool ch_syscalls_copy_memory(void) {
  return making.number == __NR_fork ||
         (making.number == __NR_clone &&
          !(making.arguments[0] & (VKI_CLONE_VM | VKI_CLONE_VFORK)));
}

void ch_syscalls_log_fork(ThreadId tid) {
  struct ch_ev_syscall_enter *e = ch_event(CH_EV_SYSCALL_ENTER, sizeof *e);
  *e = making;
  e->thread = ch_thread_number(tid);
  ch_event_commit();
}

static void before(ThreadId tid, UInt number, UWord *args, UInt count) {
  /* This matters in a forked child, too. */
  if (number == __NR_rt_sigaction)
    ch_stop_signals_action_changes(args[0]);
  if (!ch_recording)
    return;
  /* A call that a signal interrupted may be made again without having ended. */
  ch_call_targets_finish(tid, CH_CALL_ABANDONED);
  struct ch_ev_syscall_enter *e = ch_event(CH_EV_SYSCALL_ENTER, sizeof *e);
  e->thread = ch_thread_number(tid);
  e->number = number;
  for (UInt i = 0; i < 6 && i < count; i++)
    e->arguments[i] = args[i];
  if (number == __NR_clone || number == __NR_fork || number == __NR_vfork)
    making = *e;
  ch_event_commit();

  ch_syscall_will_write(tid, number, args);
  ch_mappings_expect_shared(False, -1, 0);
  ch_marks_expect_hint(0);
  ch_file_writes_before(tid, number, args);
  prepare(tid, number, args);
}

/* ---- after the call ---- */

static void log_effects(ThreadId tid, UInt number, const UWord *args,
                        SizeT result) {
  Bool prints = args[0] == 1 || args[0] == 2;
  switch (number) {
  case __NR_write:
  case __NR_pwrite64:
    if (prints)
      log_output(tid, args[0], args[1], result);
    break;
  case __NR_writev:
  case __NR_pwritev:
    if (prints)
      log_output_vector(tid, args[0], args[1], args[2], result);
    break;
  case __NR_memfd_create:
    ch_mappings_made_memfd(result);
    break;
  case __NR_set_tid_address:
    ch_thread_of(tid)->clear_tid = args[0];
    break;
  default:
    break;
  }
  ch_event_commit();
}

static void after(ThreadId tid, UInt number, UWord *args, UInt count,
                  SysRes result) {
  /* This matters in a forked child, too. */
  if (number == __NR_rt_sigaction)
    ch_signals_action_changed(args[0]);
  if (!ch_recording)
    return;
  Bool failed = sr_isError(result);
  ch_call_targets_finish(tid, !failed                        ? CH_CALL_SUCCEEDED
                              : sr_Err(result) == VKI_EFAULT ? CH_CALL_FAULTED
                                                             : CH_CALL_FAILED);
  /* Valgrind interrupts the calls of the other threads. They did not return,
     and neither does exit. */
  if (ch_program_ends || number == __NR_exit)
    return;
  struct ch_ev_syscall_exit *e = ch_event(CH_EV_SYSCALL_EXIT, sizeof *e);
  e->thread = ch_thread_number(tid);
  e->number = number;
  e->result = failed ? -(Long)sr_Err(result) : (Long)sr_Res(result);
  ch_event_commit();
  ch_mappings_expect_shared(False, -1, 0);
  ch_file_writes_after(tid, number, args, result);
  if (number == __NR_madvise)
    ch_emptied_pages_log(tid, !failed);
  if (failed)
    return;
  log_effects(tid, number, args, sr_Res(result));
}

void ch_syscalls_init(void) { VG_(needs_syscall_wrapper)(before, after); }
