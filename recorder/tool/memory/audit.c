/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/ring.h"

#define AUDIT_LIMIT (256ul << 20)
#define RECORD_PAGES (CH_MEMORY_RECORD_BYTES / VKI_PAGE_SIZE)
CH_STATIC_ASSERT(RECORD_PAGES <= CH_MOST_PAGES_TO_FIND,
                 "the pages of a record are found with one call");

/* `readable`: Valgrind takes it to be. */
static void send(Addr address, SizeT length, Bool readable) {
  /* Watched memory may hold what the program has not seen yet. */
  if (ch_call_targets_overlap(address, address + length) ||
      ch_watch_overlaps(address, address + length))
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

/* ---- files ----
   Mapped files that are not watched are taken not to change but by the program.
   The kernel notes when a file last changed. */

struct file {
  ULong device, inode, seconds, nanoseconds;
};
static CH_GROWING_ARRAY(struct file) files; /* in no order */

static struct file *file_of(ULong device, ULong inode) {
  for (UInt i = 0; i < files.used; i++)
    if (files.items[i].device == device && files.items[i].inode == inode)
      return &files.items[i];
  return NULL;
}

void ch_audit_accept_file(const struct vg_stat *now) {
  struct file f = {now->dev, now->ino, now->ctime, now->ctime_nsec};
  struct file *known = file_of(f.device, f.inode);
  if (known)
    *known = f;
  else
    ch_array_append(&files, f);
}

/* Sends the pages of a mapping that follow its file. */
static void send_following(const struct ch_file_range *r) {
  for (Addr at = r->start; at < r->end; at += CH_MEMORY_RECORD_BYTES) {
    Bool copied[RECORD_PAGES];
    const SizeT left = r->end - at;
    const UInt pages =
        left < CH_MEMORY_RECORD_BYTES ? left / VKI_PAGE_SIZE : RECORD_PAGES;
    ch_find_copied_pages(at, pages, copied);
    for (UInt i = 0; i < pages; i++)
      if (!copied[i])
        send(at + i * VKI_PAGE_SIZE, VKI_PAGE_SIZE, False);
  }
}

/* Sends the mappings of a file that something else has changed. `r` is one of
   them. */
static void audit_file(const struct ch_file_range *r) {
  struct vg_stat now;
  const NSegment *s = VG_(am_find_nsegment)(r->start);
  const HChar *name = s ? VG_(am_get_filename)(s) : NULL;
  const struct file *known = file_of(r->device, r->inode);
  if (!known || !name || sr_isError(VG_(stat)(name, &now)) ||
      now.dev != r->device || now.ino != r->inode ||
      (now.ctime == known->seconds && now.ctime_nsec == known->nanoseconds))
    return;
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++)
    if (ranges[i].device == now.dev && ranges[i].inode == now.ino)
      send_following(&ranges[i]);
  ch_audit_accept_file(&now);
}

/* ---- pages ---- */

static void audit_next_page(void) {
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

void ch_audit_next(void) {
  static UInt next_file;
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  if (count)
    audit_file(&ranges[next_file++ % count]);
  audit_next_page();
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
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++)
    audit_file(&ranges[i]);
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
