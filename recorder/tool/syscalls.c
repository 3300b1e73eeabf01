/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: number, arguments, result, what they print, and the few effects
   on memory that Valgrind's wrappers do not report. */
#include "tool.h"

#define CLONE_CHILD_CLEARTID 0x200000
#define MADV_DONTNEED 4
#define MADV_FREE 8
#define MADV_REMOVE 9
#define MAX_IOV 1024

static void log_output(ThreadId tid, UWord descriptor, Addr from,
                       SizeT length) {
  /* A write may be larger than an event: several then. */
  while (length) {
    SizeT n = length < CH_MEMORY_RECORD_BYTES ? length : CH_MEMORY_RECORD_BYTES;
    struct ch_ev_output *e = event(CH_EV_OUTPUT, sizeof *e + n);
    e->thread = thread_number(tid);
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

static void before(ThreadId tid, UInt number, UWord *args, UInt count) {
  if (!recording)
    return;
  memory_syscall_over(tid);
  struct ch_ev_syscall_enter *e = event(CH_EV_SYSCALL_ENTER, sizeof *e);
  e->thread = thread_number(tid);
  e->number = number;
  for (UInt i = 0; i < 6 && i < count; i++)
    e->arguments[i] = args[i];
  event_commit();

  memory_expect_shared(False, 0);
  switch (number) {
  case __NR_mmap:
    memory_expect_shared((args[3] & VKI_MAP_SHARED) != 0, 0);
    break;
  case __NR_shmat:
    memory_expect_shared(True, args[0] + 1);
    break;
  case __NR_clone:
    threads_expect_clear_tid(args[0] & CLONE_CHILD_CLEARTID ? args[3] : 0);
    break;
  case __NR_execve:
    /* If it succeeds we are gone: hand over what there is. */
    ring_publish(0);
    break;
  default:
    break;
  }
}

static void after(ThreadId tid, UInt number, UWord *args, UInt count,
                  SysRes result) {
  if (!recording)
    return;
  memory_syscall_over(tid);
  Bool failed = sr_isError(result);
  struct ch_ev_syscall_exit *e = event(CH_EV_SYSCALL_EXIT, sizeof *e);
  e->thread = thread_number(tid);
  e->number = number;
  e->result = failed ? -(Long)sr_Err(result) : (Long)sr_Res(result);
  event_commit();
  memory_expect_shared(False, 0);
  if (failed)
    return;
  SizeT done = sr_Res(result);
  Bool prints = args[0] == 1 || args[0] == 2;
  switch (number) {
  case __NR_write:
  case __NR_pwrite64:
    if (prints)
      log_output(tid, args[0], args[1], done);
    break;
  case __NR_writev:
  case __NR_pwritev:
    if (prints)
      log_output_vector(tid, args[0], args[1], args[2], done);
    break;
  case __NR_madvise:
    if (args[2] == MADV_DONTNEED || args[2] == MADV_FREE ||
        args[2] == MADV_REMOVE)
      memory_log(args[0], VG_PGROUNDUP(args[1]), CH_MEM_SYSCALL, tid, False);
    break;
  case __NR_set_tid_address:
    thread_of(tid)->clear_tid = args[0];
    break;
  default:
    break;
  }
  event_commit();
}

void syscalls_init(void) { VG_(needs_syscall_wrapper)(before, after); }
