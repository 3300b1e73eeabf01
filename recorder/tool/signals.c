/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals and faults. Valgrind's tool interface tells of neither fatal signals
 * nor where a fault was, so the linker puts us around five of its functions
 * (--wrap, see CMakeLists.txt):
 *
 *   gdbserver_report_signal   every signal about to be delivered, first thing;
 *                             a fault arrives here inside the host's handler,
 *                             with the guest's state as it faulted
 *   nuke_all_threads_except   the signal is fatal
 *   sigframe_create           the frame on the program's stack
 *   sigframe_destroy          sigreturn
 *   am_extend_into_adjacent_reservation_client   the main stack grows
 *
 * and make_coredump, which we do without: the trace holds more.
 */
#include "tool.h"

#define SRC_FATAL_SIGNAL 3 /* VgSrc_FatalSig */
/* A vector store that straddles a page is two stores to Valgrind: the first may
   have happened when the second faults. */
#define STRADDLE 32

Int fatal_signal;
Bool faults_handled;
static vki_siginfo_t last; /* the signal reported last */
static Bool last_synchronous;
static Bool last_on_alt_stack;

static void log_signal(ThreadId tid, UInt flags) {
  struct ch_ev_signal *e = event(CH_EV_SIGNAL, sizeof *e);
  e->thread = thread_number(tid);
  e->number = last.si_signo;
  e->flags = flags | (last_synchronous ? CH_SIG_SYNCHRONOUS : 0);
  e->code = last.si_code;
  switch (last.si_signo) {
  case VKI_SIGSEGV:
  case VKI_SIGBUS:
  case VKI_SIGILL:
  case VKI_SIGFPE:
  case VKI_SIGTRAP:
    if (last.si_code > 0) {
      e->address = (ULong)last._sifields._sigfault._addr;
      break;
    }
    /* fallthrough */
  default:
    e->sender = last._sifields._kill._pid;
  }
  event_commit();
}

/* The running superblock will not go on. */
static void log_fault(ThreadId tid) {
  ring_mark_fault();
  struct ch_ev_fault *e = event(CH_EV_FAULT, sizeof *e);
  e->thread = thread_number(tid);
  e->rip = VG_(get_IP)(tid);
  event_commit();
}

extern Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t *info,
                                                   ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info,
                                            ThreadId tid) {
  last = *info;
  last_synchronous = False;
  if (VG_(in_generated_code) && recording) {
    last_synchronous = True;
    cursor_take();
    log_fault(tid);
    /* Nothing of it runs any more: events may end the chunk. */
    running_thread = VG_INVALID_THREADID;
    thread_stopped_by_fault(tid);
    Addr address = (Addr)info->_sifields._sigfault._addr;
    Addr page = VG_PGROUNDDN(address);
    if ((info->si_signo == VKI_SIGSEGV || info->si_signo == VKI_SIGBUS) &&
        address - page < STRADDLE)
      memory_log(page - STRADDLE, STRADDLE, CH_MEM_CORE, tid, False);
    running_thread = tid;
    cursor_give_back();
  }
  return __real_vgPlain_gdbserver_report_signal(info, tid);
}

extern void __real_vgPlain_nuke_all_threads_except(ThreadId me, Int why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, Int why) {
  if (recording && why == SRC_FATAL_SIGNAL) {
    fatal_signal = last.si_signo;
    cursor_take();
    log_signal(me, CH_SIG_FATAL);
    cursor_give_back();
  }
  __real_vgPlain_nuke_all_threads_except(me, why);
}

void signals_action_changed(Int number) {
  vki_sigaction_fromK_t now;
  if (faults_handled ||
      (number != VKI_SIGSEGV && number != VKI_SIGBUS && number != VKI_SIGFPE &&
       number != VKI_SIGILL && number != VKI_SIGTRAP) ||
      sr_isError(VG_(do_sys_sigaction)(number, NULL, &now)) ||
      now.ksa_handler == VKI_SIG_DFL || now.ksa_handler == VKI_SIG_IGN)
    return;
  /* All threads are between superblocks, where their registers are exact. */
  faults_handled = True;
  VG_(discard_translations)(0, ~0ull, "chronicle");
}

static void before_delivery(ThreadId tid, Int number, Bool alt_stack) {
  last_on_alt_stack = alt_stack;
}

/* Nine words: what Valgrind 3.19 passes, of which we need the first three. */
extern void __real_vgPlain_sigframe_create(UWord tid, UWord on_alt_stack,
                                           UWord top, UWord, UWord, UWord,
                                           UWord, UWord, UWord);
void __wrap_vgPlain_sigframe_create(UWord tid, UWord on_alt_stack, UWord top,
                                    UWord a, UWord b, UWord c, UWord d,
                                    UWord e, UWord f) {
  __real_vgPlain_sigframe_create(tid, on_alt_stack, top, a, b, c, d, e, f);
  if (!recording)
    return;
  Addr bottom = VG_(get_SP)((ThreadId)tid);
  cursor_take();
  ThreadId running = running_thread;
  running_thread = VG_INVALID_THREADID;
  log_signal((ThreadId)tid, last_on_alt_stack ? CH_SIG_ALT_STACK : 0);
  if (bottom < top)
    memory_log(bottom, top - bottom, CH_MEM_SIGNAL, (ThreadId)tid, True);
  running_thread = running;
  cursor_give_back();
}

extern void __real_vgPlain_sigframe_destroy(ThreadId tid, Bool real_time);
void __wrap_vgPlain_sigframe_destroy(ThreadId tid, Bool real_time) {
  __real_vgPlain_sigframe_destroy(tid, real_time);
  if (!recording)
    return;
  struct ch_ev_thread *e = event(CH_EV_SIGNAL_RETURN, sizeof *e);
  e->thread = thread_number(tid);
  event_commit();
}

/* Both give the segment that was extended, or NULL. */
extern const void *__real_vgPlain_am_extend_into_adjacent_reservation_client(
    Addr address, SSizeT delta, Bool *overflow);
const void *__wrap_vgPlain_am_extend_into_adjacent_reservation_client(
    Addr address, SSizeT delta, Bool *overflow) {
  const void *grown = __real_vgPlain_am_extend_into_adjacent_reservation_client(
      address, delta, overflow);
  if (grown && delta < 0 && recording && started)
    memory_stack_grew(address + delta, address);
  return grown;
}

void __wrap_vgPlain_make_coredump(ThreadId tid, const vki_siginfo_t *info,
                                  ULong limit) {}

void signals_init(void) {
  VG_(track_pre_deliver_signal)(before_delivery);
}
