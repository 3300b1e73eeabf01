/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens between stretches of client code. Valgrind's core changes
 * registers there (system call results, signal delivery, sigreturn, arch_prctl)
 * mostly without telling anybody, so a thread's state is kept when it stops and
 * compared when it goes on.
 */
#include "tool.h"

ThreadId running_thread = VG_INVALID_THREADID;
Bool block_must_end;

static Thread *threads; /* by Valgrind's thread id, which it reuses */
static UInt thread_slots, threads_made;
static ThreadId resumed; /* whom the last RESUME named; 0: nobody in this block */
static UInt resumed_block;
static Bool stopped_by_fault;
static Addr expected_clear_tid;

Thread *thread_of(ThreadId tid) {
  if (tid >= thread_slots) {
    UInt size = tid * 2 + 16;
    threads = VG_(realloc)("chronicle.threads", threads, size * sizeof *threads);
    VG_(memset)(threads + thread_slots, 0,
                (size - thread_slots) * sizeof *threads);
    thread_slots = size;
  }
  return &threads[tid];
}

UInt thread_number(ThreadId tid) {
  return tid == VG_INVALID_THREADID ? 0 : thread_of(tid)->number;
}

static void read_state(ThreadId tid, UChar *state) {
  VG_(get_shadow_regs_area)(tid, state, 0, 0, CH_GUEST_STATE_SIZE);
}

static void snapshot(Thread *t, const UChar *state) {
  struct ch_ev_snapshot *e =
      event(CH_EV_SNAPSHOT, sizeof *e + CH_GUEST_STATE_SIZE);
  e->thread = t->number;
  VG_(memcpy)(e + 1, state, CH_GUEST_STATE_SIZE);
  /* The first 16 bytes are the host's event counter. */
  VG_(memset)(e + 1, 0, 16);
  t->snapshot_block = block_number + 1;
}

/* Logs the words of `state` that differ from `before`, or all without one. */
static void log_changes(Thread *t, const UChar *state, const UChar *before) {
  const ULong *now = (const ULong *)state, *then = (const ULong *)before;
  UInt changed = 0;
  for (UInt i = 2; i < CH_GUEST_STATE_SIZE / 8; i++)
    changed += !then || now[i] != then[i];
  if (!changed)
    return;
  struct ch_ev_registers *e = event(CH_EV_REGISTERS, sizeof *e + changed * 16);
  e->thread = t->number;
  e->count = changed;
  ULong *p = (ULong *)(e + 1);
  for (UInt i = 2; i < CH_GUEST_STATE_SIZE / 8; i++)
    if (!then || now[i] != then[i]) {
      *p++ = i * 8;
      *p++ = now[i];
    }
}

static void resume(Thread *t, ThreadId tid) {
  struct ch_ev_thread *e = event(CH_EV_RESUME, sizeof *e);
  e->thread = t->number;
  resumed = tid;
  resumed_block = block_number;
}

static void new_thread(ThreadId tid, ThreadId parent) {
  Thread *t = thread_of(tid);
  VG_(memset)(t, 0, sizeof *t);
  t->number = ++threads_made;
  t->parent = thread_number(parent);
}

static void log_thread_start(ThreadId tid) {
  Thread *t = thread_of(tid);
  struct ch_ev_thread_start *e = event(CH_EV_THREAD_START, sizeof *e);
  e->thread = t->number;
  e->parent = t->parent;
  e->os_thread =
      sr_Res(VG_(do_syscall)(__NR_gettid, 0, 0, 0, 0, 0, 0, 0, 0));
}

static void start_client_code(ThreadId tid, ULong blocks_done) {
  if (recording) {
    UChar state[CH_GUEST_STATE_SIZE];
    if (!started) {
      started = True;
      log_thread_start(tid);
      hide_valgrind(tid);
      memory_log_startup();
    }
    if (block_must_end) {
      block_must_end = False;
      marks_tell_all();
      ring_end_block();
    }
    Thread *t = thread_of(tid);
    read_state(tid, state);
    if (recording) {
      if (!t->has_state) {
        VG_(memcpy)(t->state, state, sizeof state);
        t->has_state = True;
      }
      if (t->snapshot_block != block_number + 1)
        snapshot(t, t->state);
      log_changes(t, state, t->state);
      if (resumed != tid || resumed_block != block_number)
        resume(t, tid);
    }
  }
  syscalls_count_stretch();
  running_thread = tid;
  stopped_by_fault = False;
  cursor_give_back();
}

static void stop_client_code(ThreadId tid, ULong blocks_done) {
  cursor_take();
  running_thread = VG_INVALID_THREADID;
  discard_old_translations();
  if (recording)
    memory_log_stack_growth();
  if (recording && !stopped_by_fault) {
    Thread *t = thread_of(tid);
    read_state(tid, t->state);
    t->has_state = True;
  }
}

void thread_stopped_by_fault(ThreadId tid) {
  Thread *t = thread_of(tid);
  stopped_by_fault = True;
  /* Without a handler it will not go on, and its registers here are not exact
     (puts.c); replay stops at the instruction and has them. */
  t->has_state = faults_handled;
  if (!faults_handled)
    return;
  read_state(tid, t->state);
  /* The instruction that faulted may have changed registers already (push has
     moved the stack pointer): say what they are. */
  log_changes(t, t->state, NULL);
}

/* Called by generated code at the entry of a superblock, when the budget is
   used up: all registers are in guest_state, the cursor behind it. */
__attribute__((used)) static void block_full(UChar *guest_state) {
  Cursor *theirs = (Cursor *)(guest_state + CURSOR_OFFSET);
  ThreadId tid = running_thread;
  cursor = *theirs;
  running_thread = VG_INVALID_THREADID;
  if (recording) {
    Thread *t = thread_of(tid);
    VG_(memcpy)(t->state, guest_state, CH_GUEST_STATE_SIZE);
    memory_log_stack_growth();
    marks_tell_all();
    memory_audit_some();
    ring_end_block();
  } else
    ring_detach();
  if (recording) {
    Thread *t = thread_of(tid);
    snapshot(t, t->state);
    resume(t, tid);
    event_commit();
  }
  running_thread = tid;
  *theirs = cursor;
}

__asm__(".pushsection .text\n"
        ".globl block_full_called\n"
        "block_full_called:\n"
        "  mov %rbp, %rdi\n"
        "  jmp block_full\n"
        ".popsection\n");

void threads_expect_clear_tid(Addr word) { expected_clear_tid = word; }

UInt threads_alive;

static void thread_created(ThreadId parent, ThreadId child) {
  threads_alive++;
  new_thread(child, parent);
  thread_of(child)->clear_tid = expected_clear_tid;
  expected_clear_tid = 0;
}

static void thread_first_instruction(ThreadId tid) {
  if (recording && started)
    log_thread_start(tid);
}

static void thread_exits(ThreadId tid) {
  Thread *t = thread_of(tid);
  threads_alive--;
  if (!recording || !t->number)
    return;
  memory_syscall_over(tid);
  if (t->has_state) {
    snapshot(t, t->state);
    t->has_state = False;
  }
  struct ch_ev_thread *e = event(CH_EV_THREAD_EXIT, sizeof *e);
  e->thread = t->number;
  /* The kernel would clear the word and wake its waiters after we lose sight of
     the thread: do it now, and tell the kernel not to. */
  Addr word = t->clear_tid;
  if (word && VG_(am_is_valid_for_client)(word, 4, VKI_PROT_WRITE)) {
    VG_(do_syscall)(__NR_set_tid_address, 0, 0, 0, 0, 0, 0, 0, 0);
    *(volatile UInt *)word = 0;
    memory_log(word, 4, CH_MEM_THREAD, tid, True);
    event_commit();
    VG_(do_syscall)(__NR_futex, word, 1 /* FUTEX_WAKE */, 1, 0, 0, 0, 0, 0);
  }
  t->clear_tid = 0;
  t->number = 0;
}

void threads_final_snapshots(void) {
  for (ThreadId tid = 1; tid < thread_slots; tid++)
    if (threads[tid].number && threads[tid].has_state)
      snapshot(&threads[tid], threads[tid].state);
}

void threads_init(void) {
  VG_(track_start_client_code)(start_client_code);
  VG_(track_stop_client_code)(stop_client_code);
  VG_(track_pre_thread_ll_create)(thread_created);
  VG_(track_pre_thread_first_insn)(thread_first_instruction);
  VG_(track_pre_thread_ll_exit)(thread_exits);
}
