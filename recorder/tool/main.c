/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder: a Valgrind tool that logs which superblocks ran, what they
 * stored, and what came from outside. This file has its options, its start and
 * its end. docs/recorder.md explains how it works.
 *
 * Each of its folders uses only those above it:
 *   core/    Valgrind's declarations, and small helpers
 *   stream/  the ring: chunks, events, the threads' registers
 *   chaos/   decisions by chance: whose turn it is, results of system calls
 *   processes/  other processes: exec, the connection to the launcher
 *   memory/  mappings, contents of memory, what stores changed
 *   events/  what Valgrind reports while the program runs
 *   code/    what is added to each superblock
 *   translation/  what is made of it, now or in an earlier recording
 */
#include "libvex_guest_amd64.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/code/instrument.h"
#include "recorder/tool/core/valgrind_core.h"
#include "recorder/tool/events/client_code.h"
#include "recorder/tool/events/core_writes.h"
#include "recorder/tool/events/signals.h"
#include "recorder/tool/events/syscalls.h"
#include "recorder/tool/events/thread_life.h"
#include "recorder/tool/events/trace_end.h"
#include "recorder/tool/fork.h"
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/processes/exec.h"
#include "recorder/tool/processes/launcher.h"
#include "recorder/tool/processes/parentage.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/translation/translate.h"

#define CH_GUEST(NAME, OFFSET, SIZE)                                           \
  CH_STATIC_ASSERT(offsetof(VexGuestAMD64State, guest_##NAME) == OFFSET,       \
                   "GuestState.h: " #NAME);
CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
CH_STATIC_ASSERT(sizeof(VexGuestAMD64State) == CH_GUEST_STATE_SIZE,
                 "Stream.h: guest state");

static Int ring_fd = -1, hide_fd = -1, control_fd = -1, lifeline_fd = -1;
static Int number = 1;
static Bool takes_first_argument, record_forks;
static const HChar *chaos;
static Bool keep_translations;
static const HChar *translations = "";
static enum { LOADS_AUTO, LOADS_ALWAYS, LOADS_NEVER } log_loads = LOADS_AUTO;

/* Valgrind reads the symbols and line tables of everything that is mapped, for
   its error messages and for functions that tools replace. This tool has
   neither, and reading them would take most of the time that a start takes. */
ULong __wrap_vgPlain_di_notify_mmap(Addr address, Bool allow_rx, Int fd) {
  return 0;
}

static Bool option(const HChar *arg) {
  if (VG_INT_CLO(arg, "--ring-fd", ring_fd)) {
  } else if (VG_INT_CLO(arg, "--hide-fd", hide_fd)) {
  } else if (VG_INT_CLO(arg, "--control-fd", control_fd)) {
  } else if (VG_INT_CLO(arg, "--lifeline-fd", lifeline_fd)) {
  } else if (VG_INT_CLO(arg, "--number", number)) {
  } else if (VG_BOOL_CLO(arg, "--record-forks", record_forks)) {
  } else if (VG_BOOL_CLO(arg, "--is-program", ch_started_as_program)) {
  } else if (VG_BOOL_CLO(arg, "--takes-first-argument", takes_first_argument)) {
  } else if (VG_STR_CLO(arg, "--translations", translations)) {
  } else if (VG_STR_CLO(arg, "--chaos", chaos)) {
  } else if (VG_BOOL_CLO(arg, "--keep-translations", keep_translations)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=auto", log_loads, LOADS_AUTO)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=always", log_loads, LOADS_ALWAYS)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=never", log_loads, LOADS_NEVER)) {
  } else
    return False;
  return True;
}

static void usage(void) {
  VG_(printf)("    none; 'chronicle record' starts this tool\n");
}

static void debug_usage(void) {}

static void after_options(void) {
  if (ring_fd < 0)
    ch_give_up("this tool is started by 'chronicle record'");
  /* Asks for all registers at every instruction; code/puts.c drops what nothing
     can observe. Chasing and unrolling would show instructions that may not
     run, or that run more than once. */
  VG_(clo_vex_control).iropt_register_updates_default =
      VexRegUpdAllregsAtEachInsn;
  VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
  VG_(clo_vex_control).guest_chase = False;
  VG_(clo_vex_control).iropt_unroll_thresh = 0;
  if (chaos)
    ch_chaos_init(VG_(strtoull10)(chaos, NULL));

  ch_launcher_init(control_fd, lifeline_fd);
  ch_exec_init(number);
  if (takes_first_argument)
    ch_exec_take_first_argument();
  ch_marks_init();
  ch_ring_open(ring_fd);
  if (hide_fd >= 0)
    VG_(close)(hide_fd);
  ch_recording = True;
  ch_reading_init();
  ch_translate_init(keep_translations, translations);
  ch_mappings_init();
  ch_core_writes_init();
  ch_fork_init(record_forks, number);
  ch_never_log_loads = log_loads == LOADS_NEVER;
  if (log_loads == LOADS_ALWAYS)
    ch_start_logging_loads(CH_LOADS_ASKED);
}

static void finished(Int status) {
  if (!ch_recording || !ch_started)
    return;
  ch_marks_send_all();
  ch_audit_all();
  ch_log_end(ch_fatal_signal ? CH_END_SIGNAL : CH_END_EXIT,
             ch_fatal_signal ? ch_fatal_signal : ch_exit_status);
  ch_recording = False;
}

static void before_options(void) {
  VG_(details_name)("Chronicle");
  VG_(details_version)(CHRONICLE_VERSION);
  VG_(details_description)("records a whole run");
  VG_(details_copyright_author)("Chronicle's recorder, GPL-2.0-or-later.");
  VG_(details_bug_reports_to)("the maintainers of Chronicle");
  VG_(details_avg_translation_sizeB)(700);
  VG_(basic_tool_funcs)(after_options, ch_instrument, finished);
  VG_(needs_command_line_options)(option, usage, debug_usage);
  ch_client_code_init();
  ch_thread_life_init();
  ch_syscalls_init();
  ch_signals_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
