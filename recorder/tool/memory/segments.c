/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/core/growing_array.h"

static CH_GROWING_ARRAY(struct ch_writable_range) writable;
static CH_GROWING_ARRAY(struct ch_file_range) files;
static Bool are_current; /* both */

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

static void find_ranges(void) {
  Int count;
  Addr *starts = VG_(get_segment_starts)(CH_SEGMENT_KINDS, &count);
  writable.used = files.used = 0;
  for (Int i = 0; i < count; i++) {
    const NSegment *s = VG_(am_find_nsegment)(starts[i]);
    struct ch_writable_range w = {s->start, s->end + 1, s->kind == SkAnonC};
    struct ch_file_range f = {s->start, s->end + 1, s->dev, s->ino, s->offset};
    if (s->hasW)
      ch_array_append(&writable, w);
    if (s->kind == SkFileC)
      ch_array_append(&files, f);
  }
  VG_(free)(starts);
  are_current = True;
}

const struct ch_writable_range *ch_writable_ranges(UInt *count) {
  if (!are_current)
    find_ranges();
  *count = writable.used;
  return writable.items;
}

const struct ch_file_range *ch_file_ranges(UInt *count) {
  if (!are_current)
    find_ranges();
  *count = files.used;
  return files.items;
}

void ch_segments_changed(void) { are_current = False; }
