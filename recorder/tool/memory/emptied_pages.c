/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/emptied_pages.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/shared_ranges.h"

#define MADV_DONTNEED 4
#define MADV_FREE 8
#define MADV_REMOVE 9
#define MADV_DONTNEED_LOCKED 24
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103

struct run {
  Addr start, end;
};
static CH_GROWING_ARRAY(struct run) existed;
static Addr range_start, range_end;
static Int advice;

Bool ch_advice_empties(Int what) {
  return what == MADV_DONTNEED || what == MADV_FREE || what == MADV_REMOVE ||
         what == MADV_DONTNEED_LOCKED || what == MADV_GUARD_REMOVE;
}

void ch_each_run_of_pages(Addr start, Addr end,
                          void (*act)(ThreadId, Addr, Addr, Bool exist),
                          ThreadId tid) {
  Bool exists[CH_MOST_PAGES_TO_FIND];
  while (start < end) {
    const Addr next = ch_next_existing_page(start, end);
    if (next > start)
      act(tid, start, next, False);
    start = next;
    UInt count = CH_MOST_PAGES_TO_FIND;
    if ((end - start) / VKI_PAGE_SIZE < count)
      count = (end - start) / VKI_PAGE_SIZE;
    ch_find_existing_pages(start, count, exists);
    for (UInt i = 0; i < count;) {
      const UInt first = i;
      while (i < count && exists[i] == exists[first])
        i++;
      act(tid, start + first * VKI_PAGE_SIZE, start + i * VKI_PAGE_SIZE,
          exists[first]);
    }
    start += count * VKI_PAGE_SIZE;
  }
}

static void note_existing(ThreadId tid, Addr start, Addr end, Bool exist) {
  struct run *last = existed.items + existed.used - 1;
  const struct run r = {start, end};
  if (!exist)
    return;
  if (existed.used && last->end == start)
    last->end = end;
  else
    ch_array_append(&existed, r);
}

/* Calls `act` for each part of the range that is mapped. */
static void each_segment(void (*act)(const NSegment *, Addr, Addr)) {
  const NSegment *s = VG_(am_find_nsegment)(range_start);
  if (!s || !(s->kind & CH_SEGMENT_KINDS))
    s = ch_next_segment(range_start);
  for (; s && s->start < range_end; s = ch_next_segment(s->end + 1))
    act(s, s->start > range_start ? s->start : range_start,
        s->end < range_end ? s->end + 1 : range_end);
}

static void note_segment(const NSegment *s, Addr start, Addr end) {
  /* Pages that a hole is punched into, or that hold guards, do not have to
     exist in this mapping. */
  if (advice == MADV_REMOVE || advice == MADV_GUARD_REMOVE)
    note_existing(VG_INVALID_THREADID, start, end, True);
  else
    ch_each_run_of_pages(start, end, note_existing, VG_INVALID_THREADID);
}

void ch_emptied_pages_expect(Addr start, SizeT length, Int what) {
  existed.used = 0;
  range_start = start;
  range_end = VG_PGROUNDUP(start + length);
  advice = what;
  if (what == MADV_GUARD_INSTALL)
    ch_read_through_kernel(True);
  if (ch_advice_empties(what) && start % VKI_PAGE_SIZE == 0 &&
      range_end > start)
    each_segment(note_segment);
}

static Bool madvise(Addr start, Addr end, Int what) {
  return !sr_isError(
      VG_(do_syscall)(__NR_madvise, start, end - start, what, 0, 0, 0, 0, 0));
}

/* The kernel empties pages that the program freed with MADV_FREE whenever it
   needs memory, which nothing reports. It may do so at once, so this is asked
   for. */
static Bool freed_all;
static void empty_freed(const NSegment *s, Addr start, Addr end) {
  freed_all = freed_all && madvise(start, end, MADV_FREE) &&
              madvise(start, end, MADV_DONTNEED);
}

static void log_private(ThreadId tid, Addr start, Addr end, Bool exist) {
  if (exist)
    ch_contents_log(start, end - start, CH_MEM_SYSCALL, tid, False);
  else
    ch_contents_log_zeros(start, end, CH_MEM_SYSCALL, tid);
}

static void log_run(ThreadId tid, Addr start, Addr end) {
  while (start < end) {
    const NSegment *s = VG_(am_find_nsegment)(start);
    const Addr stop = s && s->end < end ? s->end + 1 : end;
    /* A page that does not exist holds zeros only if no file and no other
       mapping has it. */
    if (s && s->kind == SkAnonC && !ch_have_anonymous_objects())
      ch_each_run_of_pages(start, stop, log_private, tid);
    else
      ch_contents_log(start, stop - start, CH_MEM_SYSCALL, tid, False);
    start = stop;
  }
}

void ch_emptied_pages_log(ThreadId tid, Bool succeeded) {
  if (!existed.used)
    return;
  if (advice == MADV_FREE) {
    freed_all = True;
    each_segment(empty_freed);
  }
  for (UInt i = 0; i < existed.used; i++)
    /* Reading a hole in shared memory would fill it. */
    if (advice == MADV_REMOVE && succeeded)
      ch_contents_log_zeros(existed.items[i].start, existed.items[i].end,
                            CH_MEM_SYSCALL, tid);
    else
      log_run(tid, existed.items[i].start, existed.items[i].end);
  existed.used = 0;
}
