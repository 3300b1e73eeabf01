/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/trace_end.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

void ch_log_end(enum ch_end_reason reason, UInt code) {
  ch_marks_send_all();
  ch_threads_log_final_snapshots();
  struct ch_ev_end *e = ch_event(CH_EV_END, sizeof *e);
  e->reason = reason;
  e->code = code;
  ch_ring_publish(CH_CHUNK_BLOCK_END | CH_CHUNK_LAST);
}

void ch_stop_recording(enum ch_end_reason reason) {
  if (ch_recording && ch_started)
    ch_log_end(reason, 0);
  ch_abandon_recording();
}

void ch_abandon_recording(void) {
  if (!ch_recording)
    return;
  ch_recording = False;
  ch_ring_detach();
}
