/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/stream/ring.h"

#define AUDIT_LIMIT (256ul << 20)
#define RECORD_PAGES (CH_MEMORY_RECORD_BYTES / VKI_PAGE_SIZE)
CH_STATIC_ASSERT(RECORD_PAGES <= CH_MOST_PAGES_TO_FIND,
                 "the pages of a record are found with one call");

/* `readable`: Valgrind takes it to be. */
static void send(Addr address, SizeT length, Bool readable) {
  if (ch_call_targets_overlap(address, address + length))
    return;
  struct ch_ev_range *e = ch_event(CH_EV_AUDIT, sizeof *e + length);
  SizeT got = length;
  if (!readable || !ch_memory_copy(address, e + 1, length))
    got = ch_memory_read(address, e + 1, length);
  e->address = address;
  e->length = got;
  ch_event_shrink(e, sizeof *e + got);
}

static Bool is_writable(const NSegment *s) {
  return s && (s->kind & CH_SEGMENT_KINDS) && s->hasW;
}

void ch_audit_next_page(void) {
  static Addr next;
  const NSegment *s = VG_(am_find_nsegment)(next);
  Bool wrapped = False;
  while (!is_writable(s)) {
    s = ch_next_segment(s ? s->end + 1 : next);
    if (!s) {
      if (wrapped)
        return;
      wrapped = True;
      s = ch_next_segment(0);
    }
    next = s ? s->start : 0;
  }
  send(next, VKI_PAGE_SIZE, s->hasR);
  next += VKI_PAGE_SIZE;
}

/* At most one record's worth. */
static void send_existing(Addr address, UInt pages) {
  Bool exists[RECORD_PAGES];
  ch_find_existing_pages(address, pages, exists);
  for (UInt i = 0; i < pages;) {
    UInt first = i;
    while (i < pages && exists[i] == exists[first])
      i++;
    if (exists[first])
      send(address + first * VKI_PAGE_SIZE, (i - first) * VKI_PAGE_SIZE, False);
  }
}

void ch_audit_all(void) {
  SizeT left = AUDIT_LIMIT;
  for (const NSegment *s = ch_next_segment(0); s && left;
       s = ch_next_segment(s->end + 1)) {
    if (!s->hasW)
      continue;
    for (Addr at = s->start; at <= s->end && left;) {
      SizeT n = s->end + 1 - at;
      if (n > CH_MEMORY_RECORD_BYTES)
        n = CH_MEMORY_RECORD_BYTES;
      if (n > left)
        n = left;
      send_existing(at, n / VKI_PAGE_SIZE);
      at += n;
      left -= n;
    }
  }
}
