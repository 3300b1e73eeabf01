/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/reading.h"

struct target {
  ThreadId tid;
  Addr start, end;
  ULong first, last; /* the granules it begins and ends in, before the call */
};
static CH_GROWING_ARRAY(struct target) targets;

static Addr granule_of(Addr address) { return address & ~7ull; }

static Bool read_granule(Addr address, ULong *granule) {
  return ch_memory_read(granule_of(address), granule, sizeof *granule) ==
         sizeof *granule;
}

void ch_call_targets_add(ThreadId tid, Addr start, Addr end, Bool keep_ends) {
  struct target t = {tid, start, end, 0, 0};
  if (keep_ends && ((start % 8 && !read_granule(start, &t.first)) ||
                    (end % 8 && !read_granule(end - 1, &t.last))))
    return;
  ch_array_append(&targets, t);
}

void ch_call_targets_remove(ThreadId tid) {
  for (UInt i = 0; i < targets.used;)
    if (targets.items[i].tid == tid)
      ch_array_remove(&targets, i);
    else
      i++;
}

Bool ch_call_targets_overlap(Addr start, Addr end) {
  for (UInt i = 0; i < targets.used; i++)
    if (targets.items[i].start < end && start < targets.items[i].end)
      return True;
  return False;
}

/* `now` with the bytes [from, to) of `before`. */
static ULong mixed(ULong now, ULong before, UInt from, UInt to) {
  VG_(memcpy)((UChar *)&now + from, (UChar *)&before + from, to - from);
  return now;
}

ULong ch_call_targets_undo(Addr granule, ULong now) {
  const struct target *end = targets.items + targets.used;
  for (const struct target *t = targets.items; t < end; t++) {
    UInt from = t->start > granule ? t->start - granule : 0;
    UInt to = t->end - granule < 8 ? t->end - granule : 8;
    if (granule == granule_of(t->start) && from)
      now = mixed(now, t->first, from, to);
    else if (granule == granule_of(t->end - 1) && to < 8)
      now = mixed(now, t->last, from, to);
  }
  return now;
}
