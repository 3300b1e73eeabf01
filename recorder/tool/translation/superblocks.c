/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/translation/superblocks.h"
#include "recorder/tool/code/operations.h"
#include "recorder/tool/events/trace_end.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/translation/known_definitions.h"

static void log_definition(const struct ch_definition *d, UInt first_exit) {
  static UInt next_id = 1;
  struct ch_ev_define *e =
      ch_event(CH_EV_DEFINE, sizeof *e + d->head_size + d->body_size);
  e->id = next_id++;
  e->first_exit = first_exit;
  VG_(memcpy)(e + 1, d->head, d->head_size);
  VG_(memcpy)((UChar *)(e + 1) + d->head_size, d->body, d->body_size);
}

UInt ch_superblock_send(const struct ch_superblock *s) {
  static UInt next_exit = 1;
  const UInt known = ch_known_first_exit(s->definition.hash);
  if (known)
    return known;
  if (next_exit > CH_MAX_EXIT - CH_MAX_ORDINAL || !ch_recording) {
    ch_stop_recording(CH_END_LIMIT);
    return 1;
  }
  for (UInt i = 0; i < s->reason_count; i++)
    ch_log_reason_name(s->reasons[i]);
  const UInt first_exit = next_exit;
  next_exit += s->run_words;
  ch_remember_definition(s->definition.hash, first_exit);
  log_definition(&s->definition, first_exit);
  return first_exit;
}
