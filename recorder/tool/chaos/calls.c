/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/chaos/calls.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/stream/recording.h"

#define FILE_TYPE 0170000
#define TYPE_PIPE 0010000
#define TYPE_SOCKET 0140000
#define SOCKET_OPTION_TYPE 3
#define SOCKET_LEVEL 1
#define STREAM_SOCKET 1
#define MSG_DONTWAIT 0x40
#define NONBLOCKING 04000
#define PACKET_PIPE 040000 /* O_DIRECT */
#define PIPE_ATOMIC 4096   /* what is written to a pipe in one piece */
#define FUTEX_COMMAND 0x7f
#define FUTEX_WAIT_BITSET_COMMAND 9

/* How rare the results are. */
#define SHORT_ONE_IN 4
#define INTERRUPTED_ONE_IN 16
#define WOKEN_ONE_IN 16

/* The kernel does not see the call. */
static void complete(struct ch_call_status *status, UWord *flags, Bool failed,
                     UWord value) {
  *flags &= ~(UWord)(CH_MAY_BLOCK | CH_REPORT_FAILED);
  status->what = CH_STATUS_COMPLETE;
  status->result._isError = failed;
  status->result._val = value;
}

static Bool is_to_be_changed(ThreadId tid, const struct ch_call_status *status,
                             UInt one_in) {
  return ch_chaos && ch_recording && status->what != CH_STATUS_COMPLETE &&
         ch_one_in(ch_random_of(tid), one_in);
}

enum kind { OTHER, PIPE, STREAM };

/* What has no boundaries between messages. */
static enum kind kind_of(Int fd) {
  struct vg_stat info;
  if (VG_(fstat)(fd, &info))
    return OTHER;
  if ((info.mode & FILE_TYPE) == TYPE_PIPE)
    return VG_(fcntl)(fd, VKI_F_GETFL, 0) & PACKET_PIPE ? OTHER : PIPE;
  if ((info.mode & FILE_TYPE) != TYPE_SOCKET)
    return OTHER;
  Int type = 0, size = sizeof type;
  SysRes r =
      VG_(do_syscall)(__NR_getsockopt, fd, SOCKET_LEVEL, SOCKET_OPTION_TYPE,
                      (UWord)&type, (UWord)&size, 0, 0, 0);
  return !sr_isError(r) && type == STREAM_SOCKET ? STREAM : OTHER;
}

static UWord shorter(ThreadId tid, UWord size) {
  ULong *random = ch_random_of(tid);
  /* One byte is the most that goes wrong. */
  return ch_one_in(random, 2) ? 1 : 1 + ch_random(random) % (size - 1);
}

/* Reads what is there, but less than the program asked for, from a stream that
   has no messages. (Those of a pipe are not divided if they are short.) The
   call is made here, because it must not wait: it would do so under Valgrind's
   lock. If there is nothing, it is made as always. */
static void read_less(ThreadId tid, const struct ch_call *call,
                      struct ch_call_status *status, UWord *flags) {
  const Int fd = call->arguments[0];
  const UWord size = call->arguments[2];
  if (size < 2 || !is_to_be_changed(tid, status, SHORT_ONE_IN))
    return;
  if (kind_of(fd) != STREAM)
    return;
  SysRes r = VG_(do_syscall)(__NR_recvfrom, fd, call->arguments[1],
                             shorter(tid, size), MSG_DONTWAIT, 0, 0, 0, 0);
  if (!sr_isError(r))
    complete(status, flags, False, sr_Res(r));
}

CH_BEFORE_CALL(generic_sys_read) {
  CH_REAL_CALL(generic_sys_read);
  read_less(tid, call, status, flags);
}

CH_BEFORE_CALL(linux_sys_recvfrom) {
  CH_REAL_CALL(linux_sys_recvfrom);
  /* Neither a peek nor a wait for all, and no address is asked for. */
  if (!(call->arguments[3] & ~(UWord)MSG_DONTWAIT) && !call->arguments[4])
    read_less(tid, call, status, flags);
}

/* A write may be short if it must not wait. */
CH_BEFORE_CALL(generic_sys_write) {
  CH_REAL_CALL(generic_sys_write);
  const Int fd = call->arguments[0];
  const UWord size = call->arguments[2];
  if (size < 2 || !is_to_be_changed(tid, status, SHORT_ONE_IN) ||
      !(VG_(fcntl)(fd, VKI_F_GETFL, 0) & NONBLOCKING))
    return;
  const enum kind kind = kind_of(fd);
  if (kind == OTHER || (kind == PIPE && size <= PIPE_ATOMIC))
    return;
  call->arguments[2] = shorter(tid, size);
  /* Or Valgrind leaves the changed argument in the program's registers. */
  *flags &= ~(UWord)CH_MAY_BLOCK;
}

/* These fail so without a handler, too, when the process was stopped and goes
   on: see signal(7). */
static void interrupt(ThreadId tid, const struct ch_call *call,
                      struct ch_call_status *status, UWord *flags) {
  if (call->arguments[3] && is_to_be_changed(tid, status, INTERRUPTED_ONE_IN))
    complete(status, flags, True, VKI_EINTR);
}

CH_BEFORE_CALL(linux_sys_epoll_wait) {
  CH_REAL_CALL(linux_sys_epoll_wait);
  interrupt(tid, call, status, flags);
}

CH_BEFORE_CALL(linux_sys_epoll_pwait) {
  CH_REAL_CALL(linux_sys_epoll_pwait);
  interrupt(tid, call, status, flags);
}

void ch_chaos_before_futex(ThreadId tid, const struct ch_call *call,
                           struct ch_call_status *status, UWord *flags) {
  const UInt command = call->arguments[1] & FUTEX_COMMAND;
  if ((command == VKI_FUTEX_WAIT || command == FUTEX_WAIT_BITSET_COMMAND) &&
      is_to_be_changed(tid, status, WOKEN_ONE_IN))
    complete(status, flags, False, 0);
}
