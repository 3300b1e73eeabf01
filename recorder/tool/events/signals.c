/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/signals.h"
#include "recorder/tool/events/client_code.h"
#include "recorder/tool/events/stop_signals.h"
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

#define SRC_FATAL_SIGNAL 3 /* VgSrc_FatalSig */
/* Valgrind makes two stores of a vector store that straddles pages. The first
   may have happened when the second faults. */
#define MOST_STRADDLE 32

Int ch_fatal_signal;
Bool ch_faults_handled;
static vki_siginfo_t last; /* the last signal that Valgrind reported */
static Bool last_synchronous;
static Bool last_on_alt_stack;

static void log_signal(ThreadId tid, UInt flags) {
  struct ch_ev_signal *e = ch_event(CH_EV_SIGNAL, sizeof *e);
  e->thread = ch_thread_number(tid);
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
  ch_event_commit();
}

static void log_fault(ThreadId tid) {
  ch_ring_mark_fault();
  struct ch_ev_fault *e = ch_event(CH_EV_FAULT, sizeof *e);
  e->thread = ch_thread_number(tid);
  e->rip = VG_(get_IP)(tid);
  ch_event_commit();
}

/* Valgrind calls this first for every signal it is about to deliver. A fault
   arrives here inside the host's signal handler, with the guest state as it was
   at the fault. */
extern Bool __real_vgPlain_gdbserver_report_signal(vki_siginfo_t *info,
                                                   ThreadId tid);
Bool __wrap_vgPlain_gdbserver_report_signal(vki_siginfo_t *info, ThreadId tid) {
  if (ch_stop_signals_stop(info->si_signo))
    return False; /* nothing is left to deliver */
  last = *info;
  last_synchronous = False;
  if (VG_(in_generated_code) && ch_recording) {
    last_synchronous = True;
    ch_cursor_take();
    log_fault(tid);
    /* The superblock will not go on, so events may end the chunk. */
    ch_running_thread = VG_INVALID_THREADID;
    ch_client_code_faulted(tid, ch_faults_handled);
    Addr address = (Addr)info->_sifields._sigfault._addr;
    Addr page = VG_PGROUNDDN(address);
    if ((info->si_signo == VKI_SIGSEGV || info->si_signo == VKI_SIGBUS) &&
        address - page < MOST_STRADDLE)
      ch_contents_log(page - MOST_STRADDLE, MOST_STRADDLE, CH_MEM_CORE, tid,
                      False);
    ch_running_thread = tid;
    ch_cursor_give_back();
  }
  return __real_vgPlain_gdbserver_report_signal(info, tid);
}

/* Valgrind reports a jump to where nothing may be executed as a fault of a
   mapping's permissions, also if nothing is mapped there but the address
   belongs to a reservation of its own or to itself. The kernel has another code
   for that. */
extern void VG_(synth_fault_mapping)(ThreadId tid, Addr address);
extern void __real_vgPlain_synth_fault_perms(ThreadId tid, Addr address);
void __wrap_vgPlain_synth_fault_perms(ThreadId tid, Addr address) {
  const NSegment *segment = VG_(am_find_nsegment)(address);
  if (segment && (segment->kind == SkAnonC || segment->kind == SkFileC ||
                  segment->kind == SkShmC))
    __real_vgPlain_synth_fault_perms(tid, address);
  else
    VG_(synth_fault_mapping)(tid, address);
}

/* Valgrind calls this when a signal ends the program, and before an exec. */
extern void __real_vgPlain_nuke_all_threads_except(ThreadId me, Int why);
void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, Int why) {
  ch_program_ends = True;
  if (ch_recording && why == SRC_FATAL_SIGNAL) {
    ch_fatal_signal = last.si_signo;
    ch_cursor_take();
    log_signal(me, CH_SIG_FATAL);
    ch_cursor_give_back();
  }
  __real_vgPlain_nuke_all_threads_except(me, why);
}

extern void __real_vgPlain_kill_self(Int signal);
/* The core ends the process by the signal that is fatal to the program, and
   panics if it still runs after that. The kernel may give a signal that dumps
   core to another thread, which has not run by then. The core would restore its
   own handler, which that thread would find. So the default action stays, and
   we wait for the end. If it does not come within ten seconds, the core has its
   way. */
void __wrap_vgPlain_kill_self(Int signal) {
  vki_sigaction_toK_t by_default;
  vki_sigset_t only;
  VG_(memset)(&by_default, 0, sizeof by_default);
  VG_(sigemptyset)(&only);
  VG_(sigaddset)(&only, signal);
  VG_(do_syscall)(__NR_rt_sigaction, signal, (UWord)&by_default, 0, sizeof only,
                  0, 0, 0, 0);
  VG_(do_syscall)(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (UWord)&only, 0,
                  sizeof only, 0, 0, 0, 0);
  VG_(do_syscall)(__NR_kill, VG_(getpid)(), signal, 0, 0, 0, 0, 0, 0);
  for (UInt i = 0; i < 1000; i++)
    VG_(poll)(NULL, 0, 10);
  __real_vgPlain_kill_self(signal);
}

void ch_signals_action_changed(Int number) {
  vki_sigaction_fromK_t now;
  ch_stop_signals_action_changed(number);
  if (ch_faults_handled ||
      (number != VKI_SIGSEGV && number != VKI_SIGBUS && number != VKI_SIGFPE &&
       number != VKI_SIGILL && number != VKI_SIGTRAP) ||
      sr_isError(VG_(do_sys_sigaction)(number, NULL, &now)) ||
      now.ksa_handler == VKI_SIG_DFL || now.ksa_handler == VKI_SIG_IGN)
    return;
  /* All threads are between superblocks, where registers are exact anyway. */
  ch_faults_handled = True;
  ch_discard_all_translations();
}

static void before_delivery(ThreadId tid, Int number, Bool alt_stack) {
  last_on_alt_stack = alt_stack;
}

/* Valgrind calls this to build the frame on the program's stack. Valgrind 3.19
   passes nine words, of which only the first three are needed here. */
extern void __real_vgPlain_sigframe_create(UWord tid, UWord on_alt_stack,
                                           UWord top, UWord, UWord, UWord,
                                           UWord, UWord, UWord);
void __wrap_vgPlain_sigframe_create(UWord tid, UWord on_alt_stack, UWord top,
                                    UWord a, UWord b, UWord c, UWord d, UWord e,
                                    UWord f) {
  __real_vgPlain_sigframe_create(tid, on_alt_stack, top, a, b, c, d, e, f);
  if (!ch_recording)
    return;
  Addr bottom = VG_(get_SP)((ThreadId)tid);
  ch_cursor_take();
  ThreadId running = ch_running_thread;
  ch_running_thread = VG_INVALID_THREADID;
  log_signal((ThreadId)tid, last_on_alt_stack ? CH_SIG_ALT_STACK : 0);
  if (bottom < top)
    ch_contents_log(bottom, top - bottom, CH_MEM_SIGNAL, (ThreadId)tid, True);
  ch_running_thread = running;
  ch_cursor_give_back();
}

/* Valgrind calls this for sigreturn. */
extern void __real_vgPlain_sigframe_destroy(ThreadId tid, Bool real_time);
void __wrap_vgPlain_sigframe_destroy(ThreadId tid, Bool real_time) {
  __real_vgPlain_sigframe_destroy(tid, real_time);
  if (!ch_recording)
    return;
  struct ch_ev_thread *e = ch_event(CH_EV_SIGNAL_RETURN, sizeof *e);
  e->thread = ch_thread_number(tid);
  ch_event_commit();
}

/* Valgrind calls this to make the main stack grow. Returns the segment that was
   extended, or NULL. */
extern const void *__real_vgPlain_am_extend_into_adjacent_reservation_client(
    Addr address, SSizeT delta, Bool *overflow);
const void *__wrap_vgPlain_am_extend_into_adjacent_reservation_client(
    Addr address, SSizeT delta, Bool *overflow) {
  const void *grown = __real_vgPlain_am_extend_into_adjacent_reservation_client(
      address, delta, overflow);
  if (grown && delta < 0 && ch_recording && ch_started)
    ch_mappings_stack_grew(address + delta, address);
  return grown;
}

/* Valgrind writes no core file: the trace holds more. */
void __wrap_vgPlain_make_coredump(ThreadId tid, const vki_siginfo_t *info,
                                  ULong limit) {}

void ch_signals_init(void) { VG_(track_pre_deliver_signal)(before_delivery); }
