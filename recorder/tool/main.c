/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool's options, its beginning and its end. */
#include "tool.h"
#include "libvex_guest_amd64.h"

#define CH_GUEST(NAME, OFFSET, SIZE)                                           \
  CH_STATIC_ASSERT(offsetof(VexGuestAMD64State, guest_##NAME) == OFFSET,       \
                   "GuestState.h: " #NAME);
CH_GUEST_FIELDS(CH_GUEST)
#undef CH_GUEST
CH_STATIC_ASSERT(sizeof(VexGuestAMD64State) == CH_GUEST_STATE_SIZE,
                 "Stream.h: guest state");

Bool recording = False;
Bool started = False;
Bool logging_loads = False;

static Int ring_fd = -1, hide_fd = -1;
static enum log_loads log_loads = LOADS_AUTO;
static Bool discard_pending;

void start_logging_loads(enum ch_log_loads_reason why) {
  if (logging_loads || log_loads == LOADS_NEVER || !recording)
    return;
  logging_loads = True;
  struct ch_ev_log_loads *e = event(CH_EV_LOG_LOADS, sizeof *e);
  e->reason = why;
  event_commit();
  discard_pending = started;
  discard_old_translations();
}

void discard_old_translations(void) {
  if (discard_pending && !VG_(in_generated_code)) {
    discard_pending = False;
    /* From here on loads are compared with what was told. */
    marks_tell_all();
    VG_(discard_translations)(0, ~0ull, "chronicle");
  }
}

static void log_end(UInt reason, UInt code) {
  marks_tell_all();
  threads_final_snapshots();
  struct ch_ev_end *e = event(CH_EV_END, sizeof *e);
  e->reason = reason;
  e->code = code;
  ring_publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
}

void stop_recording(UInt reason) {
  if (!recording)
    return;
  if (reason && started)
    log_end(reason, 0);
  recording = False;
  ring_detach();
}

void give_up(const HChar *why) {
  VG_(fmsg)("%s\n", why);
  VG_(exit)(125);
}

/* Valgrind reads symbols and line tables of all that is mapped, for its error
   messages and for functions that tools replace. We have neither: this saves
   most of the time a start takes. (--wrap, see CMakeLists.txt.) */
ULong __wrap_vgPlain_di_notify_mmap(Addr address, Bool allow_rx, Int fd) {
  return 0;
}

static void before_fork(ThreadId tid) {
  if (recording)
    memory_before_fork();
}

/* The child goes on under Valgrind until it execs, and must leave the ring
   alone. */
static void in_forked_child(ThreadId tid) { stop_recording(0); }

static Bool option(const HChar *arg) {
  if (VG_INT_CLO(arg, "--ring-fd", ring_fd)) {
  } else if (VG_INT_CLO(arg, "--hide-fd", hide_fd)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=auto", log_loads, LOADS_AUTO)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=always", log_loads, LOADS_ALWAYS)) {
  } else if (VG_XACT_CLO(arg, "--log-loads=never", log_loads, LOADS_NEVER)) {
  } else
    return False;
  return True;
}

static void usage(void) {
  VG_(printf)("    (started by 'chronicle record', which see)\n");
}

static void debug_usage(void) {}

static void after_options(void) {
  if (ring_fd < 0)
    give_up("this tool is started by 'chronicle record'");
  /* All registers at every instruction; instrument.c drops what nobody sees.
     Chasing and unrolling would make instructions appear that may not run, or
     more than once. */
  VG_(clo_vex_control).iropt_register_updates_default =
      VexRegUpdAllregsAtEachInsn;
  VG_(clo_px_file_backed) = VexRegUpdAllregsAtEachInsn;
  VG_(clo_vex_control).guest_chase = False;
  VG_(clo_vex_control).iropt_unroll_thresh = 0;

  marks_init();
  ring_open(ring_fd);
  if (hide_fd >= 0)
    VG_(close)(hide_fd);
  recording = True;
  memory_init();
  VG_(atfork)(before_fork, NULL, in_forked_child);
  if (log_loads == LOADS_ALWAYS)
    start_logging_loads(CH_LOADS_ASKED);
}

static void the_end(Int status) {
  if (!recording || !started)
    return;
  marks_tell_all();
  memory_audit_all();
  log_end(fatal_signal ? CH_END_SIGNAL : CH_END_EXIT,
          fatal_signal ? fatal_signal : status);
  recording = False;
}

static void before_options(void) {
  VG_(details_name)("Chronicle");
  VG_(details_version)(CHRONICLE_VERSION);
  VG_(details_description)("records a whole run");
  VG_(details_copyright_author)("Chronicle's recorder, GPL-2.0-or-later.");
  VG_(details_bug_reports_to)("the maintainers of Chronicle");
  VG_(details_avg_translation_sizeB)(700);
  VG_(basic_tool_funcs)(after_options, instrument, the_end);
  VG_(needs_command_line_options)(option, usage, debug_usage);
  threads_init();
  syscalls_init();
  signals_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
