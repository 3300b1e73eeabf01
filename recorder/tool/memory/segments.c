/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/core/growing_array.h"

static CH_GROWING_ARRAY(struct ch_writable_range) writable;
static Bool writable_is_current;

const NSegment *ch_next_segment(Addr after) {
  Int count;
  Addr *starts = VG_(get_segment_starts)(CH_SEGMENT_KINDS, &count);
  const NSegment *found = NULL;
  for (Int i = 0; i < count && !found; i++)
    if (starts[i] >= after)
      found = VG_(am_find_nsegment)(starts[i]);
  VG_(free)(starts);
  return found;
}

static void find_writable(void) {
  Int count;
  Addr *starts = VG_(get_segment_starts)(CH_SEGMENT_KINDS, &count);
  writable.used = 0;
  for (Int i = 0; i < count; i++) {
    const NSegment *s = VG_(am_find_nsegment)(starts[i]);
    struct ch_writable_range r = {s->start, s->end + 1, s->kind == SkAnonC};
    if (s->hasW)
      ch_array_append(&writable, r);
  }
  VG_(free)(starts);
  writable_is_current = True;
}

const struct ch_writable_range *ch_writable_ranges(UInt *count) {
  if (!writable_is_current)
    find_writable();
  *count = writable.used;
  return writable.items;
}

void ch_writable_ranges_changed(void) { writable_is_current = False; }
