/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/argument_windows.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/reading.h"

/* Bytes behind each argument: enough for any structure, not for any buffer. */
#define WINDOW 512
#define WINDOWS 6 /* one per argument */

struct window {
  Addr start;
  UInt length; /* 0: the argument is no pointer to memory worth comparing */
  UChar bytes[WINDOW];
};

struct call {
  struct window *windows; /* allocated on the thread's first call */
  ULong entered;          /* `stretches` when its call began */
};
static CH_GROWING_ARRAY(struct call) calls; /* by thread id */
static ULong stretches;                     /* of client code, of all threads */

void ch_windows_count_stretch(void) { stretches++; }

static struct call *call_of(ThreadId tid) {
  ch_array_reserve(&calls, tid + 1);
  struct call *c = &calls.items[tid];
  if (!c->windows)
    c->windows =
        VG_(calloc)("chronicle.windows", WINDOWS, sizeof(struct window));
  return c;
}

static void keep(struct window *w, Addr start) {
  const NSegment *s =
      start >= VKI_PAGE_SIZE ? VG_(am_find_nsegment)(start) : NULL;
  w->length = 0;
  /* Only anonymous memory: a file may end before its mapping does. */
  if (!s || s->kind != SkAnonC || !s->hasR || !s->hasW)
    return;
  SizeT length = s->end + 1 - start;
  if (length > WINDOW)
    length = WINDOW;
  w->start = start;
  if (ch_memory_copy(start, w->bytes, length))
    w->length = length;
}

void ch_windows_keep(ThreadId tid, const UWord *args, UInt count) {
  struct call *c = call_of(tid);
  c->entered = stretches;
  for (UInt i = 0; i < WINDOWS; i++)
    keep(&c->windows[i], i < count ? args[i] : 0);
}

void ch_windows_logged(ThreadId tid, Addr start, SizeT length) {
  if (tid >= calls.capacity || !calls.items[tid].windows)
    return;
  struct window *windows = calls.items[tid].windows;
  for (struct window *w = windows; w < windows + WINDOWS; w++) {
    Addr from = start > w->start ? start : w->start;
    Addr to = start + length < w->start + w->length ? start + length
                                                    : w->start + w->length;
    if (w->length && from < to)
      if (!ch_memory_copy(from, w->bytes + (from - w->start), to - from))
        w->length = 0;
  }
}

/* Logs the bytes of the window that have changed. */
static void log_changes(const struct window *w, ThreadId tid) {
  UChar now[WINDOW];
  if (!VG_(am_is_valid_for_client)(w->start, w->length, VKI_PROT_READ) ||
      !ch_memory_copy(w->start, now, w->length))
    return;
  for (UInt at = 0; at < w->length;) {
    UInt from = at;
    while (at < w->length && now[at] != w->bytes[at])
      at++;
    if (at > from)
      ch_contents_log(w->start + from, at - from, CH_MEM_SYSCALL, tid, True);
    else
      at++;
  }
}

void ch_windows_log_changes(ThreadId tid) {
  struct call *c = call_of(tid);
  const Bool alone = c->entered == stretches;
  for (struct window *w = c->windows; w < c->windows + WINDOWS; w++) {
    if (alone && w->length)
      log_changes(w, tid);
    w->length = 0;
  }
}
