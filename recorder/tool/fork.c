/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/fork.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/code/operations.h"
#include "recorder/tool/events/client_code.h"
#include "recorder/tool/events/startup.h"
#include "recorder/tool/events/syscalls.h"
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/events/trace_end.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/processes/exec.h"
#include "recorder/tool/processes/launcher.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

static Bool record_children;
static UInt own_number; /* of this recording */
static UInt forks;      /* of this process so far */
static Bool recorded;   /* the child of the fork under way will be */
/* The parent waits until the child has closed its end, or has died. */
static Int wait_for_child = -1, child_is_ready = -1;
static Int parents_log = -1;

static void close_end(Int *fd) {
  if (*fd >= 0)
    VG_(close)(*fd);
  *fd = -1;
}

/* Out of the way of what other threads are opening. Valgrind's own numbers, of
   which there are few, are not needed: no code of the program will run. */
static Int moved_up(Int fd) {
  const Int high = VG_(fcntl)(fd, VKI_F_DUPFD, VG_(fd_hard_limit) - 8);
  if (high < 0)
    return fd;
  VG_(close)(fd);
  return high;
}

static void make_pipe(void) {
  Int ends[2];
  /* Those of a fork that failed. */
  close_end(&wait_for_child);
  close_end(&child_is_ready);
  if (VG_(pipe)(ends) != 0)
    return;
  wait_for_child = moved_up(ends[0]);
  child_is_ready = moved_up(ends[1]);
}

static void log_fork(ThreadId tid) {
  struct ch_ev_fork *e = ch_event(CH_EV_FORK, sizeof *e);
  e->thread = ch_thread_number(tid);
  e->number = ++forks;
  ch_event_commit();
  ch_ring_hand_over();
}

static void before_fork(ThreadId tid) {
  recorded = False;
  if (!ch_recording)
    return;
  ch_mappings_before_sharing();
  recorded = record_children && ch_started && ch_launcher_known() &&
             ch_syscalls_copy_memory();
  if (!recorded)
    return;
  /* In the child, Valgrind forgets it without closing it. */
  parents_log = VG_(log_output_sink).fd;
  ch_marks_send_all();
  make_pipe();
  log_fork(tid);
}

static void in_parent(ThreadId tid) {
  HChar byte;
  close_end(&child_is_ready);
  if (wait_for_child < 0)
    return;
  VG_(read)(wait_for_child, &byte, 1);
  close_end(&wait_for_child);
}

/* Logs what the child begins with. */
static void begin_trace(ThreadId tid) {
  ch_chaos_end();
  ch_call_targets_in_child();
  ch_client_code_in_child();
  ch_thread_life_in_child(tid);
  ch_log_reason_names_again();
  ch_load_logging_log();
  ch_mappings_log_inherited();
  ch_syscalls_log_fork(tid);
}

static Bool begin_recording(ThreadId tid) {
  struct ch_control_request request;
  struct ch_launcher_answer answer;
  VG_(memset)(&request, 0, sizeof request);
  request.version = CH_CONTROL_VERSION;
  request.kind = CH_CONTROL_FORK;
  request.asker = own_number;
  request.fork = forks;
  request.auxiliary = ch_auxiliary_vector;
  const Int socket = ch_launcher_ask(&request, NULL, 0, &answer);
  if (!answer.number || !ch_reading_in_child() ||
      !ch_ring_replace(answer.descriptors[0])) {
    ch_launcher_take_back(socket, &answer);
    return False;
  }
  close_end(&parents_log);
  VG_(log_output_sink).fd = VG_(safe_fd)(answer.descriptors[1]);
  for (UInt i = 2; i < answer.received; i++)
    VG_(close)(answer.descriptors[i]);
  VG_(close)(socket);
  own_number = answer.number;
  forks = 0;
  ch_exec_init(own_number);
  begin_trace(tid);
  return True;
}

static void in_child(ThreadId tid) {
  close_end(&wait_for_child);
  ch_launcher_in_child();
  if (!recorded || !begin_recording(tid)) {
    ch_chaos_end();
    ch_abandon_recording();
  }
  close_end(&child_is_ready);
}

void ch_fork_init(Bool record, UInt number) {
  record_children = record;
  own_number = number;
  VG_(atfork)(before_fork, in_parent, in_child);
}
