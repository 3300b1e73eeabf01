/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/reading.h"
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
  if (safe)
    VG_(memcpy)(bytes, (void *)address, length);
  else {
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

void ch_contents_log(Addr address, SizeT length, enum ch_memory_source source,
                     ThreadId tid, Bool safe) {
  Bool by_reference = length >= CH_BY_REFERENCE_BYTES;
  while (length) {
    SizeT n = CH_MEMORY_RECORD_BYTES - address % CH_MEMORY_RECORD_BYTES;
    if (n > length)
      n = length;
    SizeT got = log_record(address, n, source, tid, safe, by_reference);
    if (got < n) /* an unreadable page, such as one past the end of a file */
      got = VG_PGROUNDUP(address + got + 1) - address;
    if (got > length)
      got = length;
    address += got;
    length -= got;
  }
}

void ch_contents_log_zeros(Addr start, Addr end, enum ch_memory_source source,
                           ThreadId tid) {
  struct ch_ev_memory *e = ch_event(CH_EV_MEMORY, sizeof *e);
  e->address = start;
  e->length = end - start;
  e->thread = ch_thread_number(tid);
  e->source = source;
  e->flags = CH_MEM_ZERO;
}
