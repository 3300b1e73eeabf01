/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"

Bool ch_logging_loads = False;
Bool ch_never_log_loads = False;
static Bool discard_pending;
static enum ch_log_loads_reason reason; /* 0: nothing is logged */

void ch_load_logging_log(void) {
  if (!reason)
    return;
  struct ch_ev_log_loads *e = ch_event(CH_EV_LOG_LOADS, sizeof *e);
  e->reason = reason;
  ch_event_commit();
}

/* Other code is to be made from here on. */
static void begin(enum ch_log_loads_reason why) {
  reason = why;
  ch_load_logging_log();
  discard_pending = ch_started;
  ch_discard_old_translations();
}

void ch_start_logging_loads(enum ch_log_loads_reason why) {
  if (ch_logging_loads || ch_never_log_loads || !ch_recording)
    return;
  ch_logging_loads = True;
  ch_watching = False;
  begin(why);
}

void ch_start_watching(void) {
  if (ch_watching || ch_logging_loads || ch_never_log_loads || !ch_recording)
    return;
  if (!ch_marking) {
    ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
    return;
  }
  ch_watching = True;
  begin(CH_LOADS_WATCHED);
}

void ch_discard_old_translations(void) {
  if (!discard_pending || VG_(in_generated_code))
    return;
  discard_pending = False;
  /* The indexer compares each logged load with its image of memory, which must
     be complete from here on. */
  ch_marks_send_all();
  ch_discard_all_translations();
}
