/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/client_code.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/events/startup.h"
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/events/trace_end.h"
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

/* A block that has lasted this long ends where its thread stops, before a
   system call that may wait for hours: if Chronicle is killed meanwhile, little
   is lost of a program that does little. */
#define BLOCK_MILLISECONDS 60
/* How often the kernel is asked for the time: every 30 ms or so. */
#define LOOK_CYCLES 100000000ull

/* The thread and block of the last CH_EV_RESUME. */
static ThreadId resumed;
static UInt resumed_block;
static Bool stopped_by_fault;

static void log_resume(const struct ch_thread *t, ThreadId tid) {
  struct ch_ev_thread *e = ch_event(CH_EV_RESUME, sizeof *e);
  e->thread = t->number;
  resumed = tid;
  resumed_block = ch_block_number;
}

static UInt block_began; /* by the millisecond timer */

void ch_client_code_in_child(void) { resumed = VG_INVALID_THREADID; }

/* Everything the block stored must have been sent. The indexer may have asked
   for the end of the recording, so ch_recording may be False afterwards. */
static void end_block(void) {
  ch_ring_end_block(ch_marks_take_page_count());
  block_began = VG_(read_millisecond_timer)();
  const UInt requests = ch_ring_requests();
  if (requests & CH_REQUEST_STOP)
    ch_stop_recording(CH_END_STOPPED);
  else if (requests & CH_REQUEST_LOG_LOADS)
    ch_start_logging_loads(CH_LOADS_UNREPORTED_WRITE);
}

static void start_recording(ThreadId tid) {
  ch_started = True;
  ch_log_thread_start(tid);
  ch_hide_valgrind(tid);
  ch_mappings_log_startup();
}

/* Logs what happened to the thread since it stopped. */
static void log_resumption(ThreadId tid) {
  UChar state[CH_GUEST_STATE_SIZE];
  struct ch_thread *t = ch_thread_of(tid);
  ch_thread_read_registers(tid, state);
  if (!t->has_state) {
    VG_(memcpy)(t->state, state, sizeof state);
    t->has_state = True;
  }
  if (t->snapshot_block != ch_block_number + 1)
    ch_thread_log_snapshot(t);
  ch_thread_log_changes(t, state, t->state);
  if (resumed != tid || resumed_block != ch_block_number)
    log_resume(t, tid);
}

static void start_client_code(ThreadId tid, ULong blocks_done) {
  if (ch_recording && !ch_started)
    start_recording(tid);
  if (ch_recording && ch_block_must_end) {
    ch_block_must_end = False;
    ch_marks_send_all();
    end_block();
  }
  if (ch_recording)
    log_resumption(tid);
  if (ch_recording && ch_watching)
    ch_ring_make_room();
  ch_call_targets_count_stretch();
  ch_running_thread = tid;
  stopped_by_fault = False;
  ch_cursor_give_back();
  if (ch_chaos)
    ch_chaos_stretch_begins(tid);
}

static Bool block_lasts_long(void) {
  static ULong looked;
  const ULong now = __builtin_ia32_rdtsc();
  if (now - looked < LOOK_CYCLES)
    return False;
  looked = now;
  return VG_(read_millisecond_timer)() - block_began >= BLOCK_MILLISECONDS;
}

/* Ends the block, and begins one in which the thread has done nothing yet.
   Everything that was stored must have been sent. */
static void change_block(ThreadId tid, struct ch_thread *t) {
  end_block();
  if (!ch_recording)
    return;
  ch_thread_log_snapshot(t);
  log_resume(t, tid);
  ch_event_commit();
}

static void stop_client_code(ThreadId tid, ULong blocks_done) {
  ch_cursor_take();
  ch_running_thread = VG_INVALID_THREADID;
  ch_discard_old_translations();
  if (ch_recording)
    ch_mappings_log_stack_growth();
  if (ch_recording && !stopped_by_fault) {
    struct ch_thread *t = ch_thread_of(tid);
    ch_thread_read_registers(tid, t->state);
    t->has_state = True;
    /* With chaos the same seed gives the same trace, block by block. */
    if (!ch_chaos && block_lasts_long()) {
      ch_marks_send_all();
      change_block(tid, t);
    }
  }
}

void ch_client_code_faulted(ThreadId tid, Bool exact) {
  struct ch_thread *t = ch_thread_of(tid);
  stopped_by_fault = True;
  /* If the registers are not exact, no handler will see them and the thread
     will not go on. Replay computes them up to the instruction that faulted. */
  t->has_state = exact;
  if (!exact)
    return;
  ch_thread_read_registers(tid, t->state);
  /* The instruction that faulted may already have changed registers (a push has
     moved the stack pointer), so all of them are logged. */
  ch_thread_log_changes(t, t->state, NULL);
}

__attribute__((used)) static void block_full(UChar *guest_state) {
  struct ch_cursor *theirs =
      (struct ch_cursor *)(guest_state + CH_CURSOR_OFFSET);
  ThreadId tid = ch_running_thread;
  ch_cursor = *theirs;
  ch_running_thread = VG_INVALID_THREADID;
  if (ch_recording) {
    VG_(memcpy)(ch_thread_of(tid)->state, guest_state, CH_GUEST_STATE_SIZE);
    ch_mappings_log_stack_growth();
    ch_marks_send_all();
    ch_audit_next();
    change_block(tid, ch_thread_of(tid));
  } else
    ch_ring_detach();
  ch_running_thread = tid;
  *theirs = ch_cursor;
}

/* The call has no arguments, because VEX would compute them even where the call
   is not made. */
__asm__(".pushsection .text\n"
        ".globl ch_block_full_called\n"
        "ch_block_full_called:\n"
        "  mov %rbp, %rdi\n"
        "  jmp block_full\n"
        ".popsection\n");

void ch_client_code_init(void) {
  VG_(track_start_client_code)(start_client_code);
  VG_(track_stop_client_code)(stop_client_code);
}
