/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: number, arguments, result, what they print, and effects on
 * memory that Valgrind's wrappers do not report. There are such (pselect6 has no
 * report at all), so what the arguments point to is kept before the call and
 * compared after it: what changed and was not reported is logged then.
 */
#include "tool.h"

#define CLONE_CHILD_CLEARTID 0x200000
#define MADV_DONTNEED 4
#define MADV_FREE 8
#define MADV_REMOVE 9
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#define MAX_IOV 1024

/* ---- what the arguments point to ---- */

#define WINDOW 512 /* bytes behind each pointer: any structure, not any buffer */
#define WINDOWS 6

typedef struct {
  Addr start;
  UInt length; /* 0: none */
  UChar bytes[WINDOW];
} Window;

/* By Valgrind's thread id, allocated on a thread's first call. */
static Window **windows;
static UInt windows_size;
static ULong stretches; /* of client code, of all threads */
static ULong *entered;  /* by thread: stretches when its call began */

void syscalls_count_stretch(void) { stretches++; }

static Window *windows_of(ThreadId tid) {
  if (tid >= windows_size) {
    UInt size = tid * 2 + 16;
    windows = VG_(realloc)("chronicle.windows", windows, size * sizeof *windows);
    entered = VG_(realloc)("chronicle.entered", entered, size * sizeof *entered);
    for (; windows_size < size; windows_size++)
      windows[windows_size] = NULL;
  }
  if (!windows[tid])
    windows[tid] = VG_(calloc)("chronicle.window", WINDOWS, sizeof(Window));
  return windows[tid];
}

static void keep_windows(ThreadId tid, const UWord *args, UInt count) {
  Window *w = windows_of(tid);
  entered[tid] = stretches;
  for (UInt i = 0; i < WINDOWS; i++) {
    w[i].length = 0;
    const NSegment *s =
        i < count && args[i] >= VKI_PAGE_SIZE ? VG_(am_find_nsegment)(args[i])
                                              : NULL;
    /* Anonymous memory only: a file's may end before its mapping does. */
    if (!s || s->kind != SkAnonC || !s->hasR || !s->hasW)
      continue;
    SizeT left = s->end + 1 - args[i];
    if (left > WINDOW)
      left = WINDOW;
    w[i].start = args[i];
    if (memory_copy(args[i], w[i].bytes, left))
      w[i].length = left;
  }
}

/* Memory was reported: the windows know it already. */
void syscalls_memory_logged(ThreadId tid, Addr start, SizeT length) {
  if (tid >= windows_size || !windows[tid])
    return;
  for (Window *w = windows[tid]; w < windows[tid] + WINDOWS; w++) {
    Addr from = start > w->start ? start : w->start;
    Addr to = start + length < w->start + w->length ? start + length
                                                    : w->start + w->length;
    if (w->length && from < to)
      if (!memory_copy(from, w->bytes + (from - w->start), to - from))
        w->length = 0;
  }
}

static void log_unreported(ThreadId tid) {
  Window *w = windows_of(tid);
  /* If other threads ran meanwhile a change may be theirs. */
  Bool alone = entered[tid] == stretches;
  for (UInt i = 0; i < WINDOWS; i++) {
    UInt length = w[i].length;
    w[i].length = 0;
    UChar now[WINDOW];
    if (!alone || !length ||
        !VG_(am_is_valid_for_client)(w[i].start, length, VKI_PROT_READ) ||
        !memory_copy(w[i].start, now, length))
      continue;
    for (UInt at = 0; at < length;) {
      UInt from = at;
      while (at < length && now[at] != w[i].bytes[at])
        at++;
      if (at > from)
        memory_log(w[i].start + from, at - from, CH_MEM_SYSCALL, tid, True);
      else
        at++;
    }
  }
}

static void log_if_given(ThreadId tid, Addr address, SizeT length) {
  if (address && length)
    memory_log(address, length, CH_MEM_SYSCALL, tid, False);
}

/* ---- output ---- */

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

/* Whether the call may make a file shorter. */
static Bool cuts_file(UInt number, const UWord *args) {
  switch (number) {
  case __NR_truncate:
  case __NR_ftruncate:
  case __NR_creat:
    return True;
  case __NR_open:
    return (args[1] & VKI_O_TRUNC) != 0;
  case __NR_openat:
    return (args[2] & VKI_O_TRUNC) != 0;
  default:
    return False;
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

  keep_windows(tid, args, count);
  memory_expect_shared(False, 0);
  marks_expect_hint(0);
  if (cuts_file(number, args))
    marks_tell_all();
  switch (number) {
  case __NR_mmap:
    memory_expect_shared((args[3] & VKI_MAP_SHARED) != 0, 0);
    if (args[3] & VKI_MAP_FIXED)
      marks_tell_range(args[0], args[0] + args[1]);
    else
      marks_expect_hint(args[1]);
    break;
  case __NR_munmap:
  case __NR_mremap:
  case __NR_mprotect:
  case __NR_pkey_mprotect:
    marks_tell_range(args[0], args[0] + args[1]);
    break;
  case __NR_madvise:
    marks_tell_range(args[0], args[0] + args[1]);
    if (args[2] == MADV_GUARD_INSTALL)
      memory_expect_holes();
    break;
  case __NR_userfaultfd:
    memory_expect_holes();
    break;
  case __NR_brk:
    marks_tell_range(args[0], ~0ull);
    break;
  case __NR_shmdt:
    marks_tell_range(args[0], ~0ull);
    break;
  case __NR_shmat:
    memory_expect_shared(True, args[0] + 1);
    break;
  case __NR_pselect6:
    for (UInt i = 1; i <= 3; i++)
      if (args[i])
        memory_call_will_write(tid, args[i], VG_ROUNDUP(args[0], 64) / 8);
    if (args[4])
      memory_call_will_write(tid, args[4], sizeof(struct vki_timespec));
    break;
  case __NR_io_setup:
    /* What it asks for later is memory shared with the kernel: it writes between
       calls, whenever it likes. */
    start_logging_loads(CH_LOADS_SHARED_MEMORY);
    break;
  case __NR_clone:
    threads_expect_clear_tid(args[0] & CLONE_CHILD_CLEARTID ? args[3] : 0);
    break;
  case __NR_execve:
  case __NR_execveat:
    /* If it succeeds we are gone: hand over what there is. */
    marks_tell_all();
    ring_publish(0);
    break;
  default:
    break;
  }
}

static void log_cut_file(ThreadId tid, UInt number, const UWord *args,
                         SysRes result) {
  struct vg_stat file;
  Bool known =
      number == __NR_truncate
          ? !sr_isError(VG_(stat)((const HChar *)args[0], &file))
          : VG_(fstat)(number == __NR_ftruncate ? args[0] : sr_Res(result),
                       &file) == 0;
  if (known && VKI_S_ISREG(file.mode)) /* others have no end */
    memory_file_cut(file.dev, file.ino, file.size, tid);
}

static void after(ThreadId tid, UInt number, UWord *args, UInt count,
                  SysRes result) {
  /* Matters in a forked child, too. */
  if (number == __NR_rt_sigaction && !sr_isError(result))
    signals_action_changed(args[0]);
  if (!recording)
    return;
  memory_syscall_over(tid);
  log_unreported(tid);
  Bool failed = sr_isError(result);
  struct ch_ev_syscall_exit *e = event(CH_EV_SYSCALL_EXIT, sizeof *e);
  e->thread = thread_number(tid);
  e->number = number;
  e->result = failed ? -(Long)sr_Err(result) : (Long)sr_Res(result);
  event_commit();
  memory_expect_shared(False, 0);
  if (failed)
    return;
  if (cuts_file(number, args))
    log_cut_file(tid, number, args, result);
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
        args[2] == MADV_REMOVE || args[2] == MADV_GUARD_REMOVE)
      memory_log(args[0], VG_PGROUNDUP(args[1]), CH_MEM_SYSCALL, tid, False);
    break;
  case __NR_pselect6:
    for (UInt i = 1; i <= 3; i++)
      log_if_given(tid, args[i], VG_ROUNDUP(args[0], 64) / 8);
    log_if_given(tid, args[4], sizeof(struct vki_timespec));
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
