/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

static Bool all_zero(const UChar *p, SizeT n) {
  const ULong *w = (const ULong *)p;
  for (; n >= 8; n -= 8)
    if (*w++)
      return False;
  for (p = (const UChar *)w; n; n--)
    if (*p++)
      return False;
  return True;
}

/* Logs at most one record. Returns how many bytes could be read. */
static SizeT log_record(Addr address, SizeT length,
                        enum ch_memory_source source, ThreadId tid, Bool safe,
                        Bool by_reference) {
  struct ch_ev_memory *e = ch_event(CH_EV_MEMORY, sizeof *e + length);
  UChar *bytes = (UChar *)(e + 1);
  SizeT got = length;
  if (!safe || !ch_memory_copy(address, bytes, length)) {
    got = ch_memory_read(address, bytes, length);
    if (!got) {
      ch_event_cancel(e);
      return 0;
    }
  }
  e->address = address;
  e->length = got;
  e->thread = ch_thread_number(tid);
  e->source = source;
  ch_watch_learn(address, bytes, got);
  if (all_zero(bytes, got)) {
    e->flags = CH_MEM_ZERO;
    ch_event_shrink(e, sizeof *e);
  } else {
    if (by_reference) {
      e->flags = CH_MEM_BY_REFERENCE;
      ch_block_must_end = True;
    }
    ch_event_shrink(e, sizeof *e + got);
  }
  return got;
}

/* The address behind what cannot be read at `address`: one page, as that past
   the end of a file, or all that is not the program's memory. */
static Addr end_of_unreadable(Addr address) {
  const NSegment *s = VG_(am_find_nsegment)(address);
  return s && !(s->kind & CH_SEGMENT_KINDS)
             ? s->end + 1
             : VG_PGROUNDDN(address) + VKI_PAGE_SIZE;
}

void ch_contents_log(Addr address, SizeT length, enum ch_memory_source source,
                     ThreadId tid, Bool safe) {
  const Addr start = address;
  const SizeT whole = length;
  Bool by_reference = length >= CH_BY_REFERENCE_BYTES;
  while (length) {
    SizeT n = CH_MEMORY_RECORD_BYTES - address % CH_MEMORY_RECORD_BYTES;
    if (n > length)
      n = length;
    SizeT got = log_record(address, n, source, tid, safe, by_reference);
    if (got < n)
      got = end_of_unreadable(address + got) - address;
    if (got > length)
      got = length;
    address += got;
    length -= got;
  }
  ch_call_targets_logged(start, whole);
}

void ch_contents_log_zeros(Addr start, Addr end, enum ch_memory_source source,
                           ThreadId tid) {
  struct ch_ev_memory *e = ch_event(CH_EV_MEMORY, sizeof *e);
  ch_watch_learn_zeros(start, end);
  e->address = start;
  e->length = end - start;
  e->thread = ch_thread_number(tid);
  e->source = source;
  e->flags = CH_MEM_ZERO;
  ch_call_targets_logged(start, end - start);
}
