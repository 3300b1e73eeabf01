/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/watch.h"
#include "pub_tool_hashtable.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"

/* Frames are numbered as in the trace (docs/format.md, "Pages"). */
#define OBJECT_FRAMES (1ull << 62)
#define OBJECT_SHIFT 36

Bool ch_watching;
UChar ch_watch_flags[CH_WATCH_FLAGS];

struct range {
  Addr start, end;
  ULong frame; /* of the first page */
};
static CH_GROWING_ARRAY(struct range) ranges; /* by address */

/* The copy of a frame, in Valgrind's hash table. */
struct copy {
  struct copy *next;
  UWord frame;
  UChar bytes[VKI_PAGE_SIZE];
};
static VgHashTable *copies;

/* The copies of pages that were used last. A page that is not watched is listed
   without a copy. */
#define CACHED 1024
static struct {
  Addr page;
  UChar *bytes;
} cache[CACHED];

static void forget_cache(void) {
  for (UInt i = 0; i < CACHED; i++)
    cache[i].page = 1; /* no page is there */
}

/* ---- ranges ---- */

/* How many ranges each flag is set for. */
static UInt flag_counts[CH_WATCH_FLAGS];

/* Adds a range to those that the flags of its pages, and of a page before and
   behind, are set for, or removes it. */
static void count_flags(const struct range *r, Int change) {
  const Addr first = r->start / VKI_PAGE_SIZE - 1;
  const Addr count = (r->end - r->start) / VKI_PAGE_SIZE + 2;
  const UInt flags = count < CH_WATCH_FLAGS ? count : CH_WATCH_FLAGS;
  for (UInt i = 0; i < flags; i++) {
    const UInt flag = (first + i) % CH_WATCH_FLAGS;
    flag_counts[flag] += change;
    ch_watch_flags[flag] = flag_counts[flag] != 0;
  }
}

static ULong frame_at(const struct range *r, Addr page) {
  return r->frame + (page - r->start) / VKI_PAGE_SIZE;
}

static const struct range *range_of(Addr address) {
  const UInt i = ch_array_first_behind(&ranges, address);
  return i < ranges.used && ranges.items[i].start <= address ? &ranges.items[i]
                                                             : NULL;
}

static void add_range(Addr start, Addr end, ULong frame) {
  const struct range r = {start, end, frame};
  ch_array_insert(&ranges, ch_array_first_behind(&ranges, start), r);
  count_flags(&r, 1);
}

static Bool has_frame(ULong frame) {
  for (UInt i = 0; i < ranges.used; i++) {
    const struct range *r = &ranges.items[i];
    if (r->frame <= frame &&
        frame - r->frame < (r->end - r->start) / VKI_PAGE_SIZE)
      return True;
  }
  return False;
}

void ch_watch_add(Addr start, Addr end, UInt object, ULong offset) {
  if (!copies)
    copies = VG_(HT_construct)("chronicle.watch");
  ch_watch_forget(start, end);
  add_range(start, end,
            object ? OBJECT_FRAMES + ((ULong)object << OBJECT_SHIFT) +
                         offset / VKI_PAGE_SIZE
                   : start / VKI_PAGE_SIZE);
  forget_cache();
}

/* Frees the copies of a range that has been removed, unless its object is
   mapped elsewhere too. */
static void free_copies(const struct range *r) {
  for (Addr page = r->start; page < r->end && VG_(HT_count_nodes)(copies);
       page += VKI_PAGE_SIZE)
    if (!has_frame(frame_at(r, page)))
      VG_(free)(VG_(HT_remove)(copies, frame_at(r, page)));
}

void ch_watch_forget(Addr start, Addr end) {
  UInt i = ch_array_first_behind(&ranges, start);
  if (i >= ranges.used || ranges.items[i].start >= end)
    return;
  while (i < ranges.used && ranges.items[i].start < end) {
    const struct range r = ranges.items[i];
    struct range gone = {r.start > start ? r.start : start,
                         r.end < end ? r.end : end, 0};
    gone.frame = frame_at(&r, gone.start);
    ch_array_erase(&ranges, i);
    count_flags(&r, -1);
    if (r.end > end)
      add_range(end, r.end, frame_at(&r, end));
    if (r.start < start) {
      add_range(r.start, start, r.frame);
      i++;
    }
    free_copies(&gone);
  }
  forget_cache();
}

Bool ch_watch_overlaps(Addr start, Addr end) {
  const UInt i = ch_array_first_behind(&ranges, start);
  return i < ranges.used && ranges.items[i].start < end;
}

/* ---- copies ---- */

static UChar *find_copy(Addr page) {
  const struct range *r = range_of(page);
  if (!r)
    return NULL;
  const ULong frame = frame_at(r, page);
  struct copy *c = VG_(HT_lookup)(copies, frame);
  if (!c) {
    c = VG_(calloc)("chronicle.watch.copy", 1, sizeof *c);
    c->frame = frame;
    VG_(HT_add_node)(copies, c);
  }
  return c->bytes;
}

static UChar *copy_of(Addr page) {
  const UInt slot = page / VKI_PAGE_SIZE % CACHED;
  if (cache[slot].page != page) {
    cache[slot].bytes = find_copy(page);
    cache[slot].page = page;
  }
  return cache[slot].bytes;
}

const UChar *ch_watch_page(Addr page) {
  return ranges.used ? copy_of(page) : NULL;
}

/* Bytes from the address to the end of its page, at most `length`. */
static SizeT within_page(Addr address, SizeT length) {
  const SizeT left = VKI_PAGE_SIZE - address % VKI_PAGE_SIZE;
  return length < left ? length : left;
}

void ch_watch_learn(Addr address, const UChar *bytes, SizeT length) {
  if (ch_logging_loads || !ch_watch_overlaps(address, address + length))
    return;
  for (SizeT n; length; address += n, bytes += n, length -= n) {
    n = within_page(address, length);
    UChar *copy = copy_of(VG_PGROUNDDN(address));
    if (copy)
      VG_(memcpy)(copy + address % VKI_PAGE_SIZE, bytes, n);
  }
}

void ch_watch_learn_zeros(Addr start, Addr end) {
  static const UChar zeros[VKI_PAGE_SIZE];
  if (ch_logging_loads || !ch_watch_overlaps(start, end))
    return;
  for (SizeT n; start < end; start += n) {
    n = within_page(start, end - start);
    ch_watch_learn(start, zeros, n);
  }
}

/* ---- accesses ---- */

/* Logs the bytes that differ from the copy, and learns them. */
static void found_by_load(UChar *state, Addr address, const UChar *value,
                          UChar *copy, UInt length, UInt flags) {
  UInt first = 0, last = length;
  while (value[first] == copy[first])
    first++;
  while (value[last - 1] == copy[last - 1])
    last--;
  struct ch_ev_loaded e = {0};
  e.address = address + first;
  e.length = last - first;
  e.flags = flags;
  e.rip = *(ULong *)(state + CH_OFFSET_RIP);
  ch_event_inside(state, &e, value + first);
  VG_(memcpy)(copy + first, value + first, last - first);
}

static Bool differs(const UChar *value, const UChar *copy, UInt length) {
  for (; length >= 8; length -= 8, value += 8, copy += 8)
    if (*(const ULong *)value != *(const ULong *)copy)
      return True;
  for (; length; length--)
    if (*value++ != *copy++)
      return True;
  return False;
}

__attribute__((used)) static void watched_access(Addr address, UChar *state,
                                                 UInt size,
                                                 enum ch_watch_access access) {
  const UChar *value = state + CH_UNUSED_OFFSET;
  for (UInt n; size; address += n, value += n, size -= n) {
    n = within_page(address, size);
    UChar *copy = copy_of(VG_PGROUNDDN(address));
    if (!copy)
      continue;
    copy += address % VKI_PAGE_SIZE;
    if (access == CH_WATCH_STORE)
      VG_(memcpy)(copy, value, n);
    else if (differs(value, copy, n) && ch_recording)
      found_by_load(state, address, value, copy, n,
                    access == CH_WATCH_SWAP ? CH_LOADED_BY_SWAP : 0);
  }
}

void ch_watch_written(Addr address, Addr logged, UWord size) {
  ch_watch_learn(address, (const UChar *)logged, size);
  ch_marks_mark(address, size);
}

/* The functions have one argument, because VEX computes arguments even where
   the call is not made. Generated code keeps the guest state in RBP. */
#define HELPER(name, access, size)                                             \
  extern void ch_watched_##name##_##size(void);                                \
  __asm__(".pushsection .text\n"                                               \
          "ch_watched_" #name "_" #size ":\n"                                  \
          "  mov %rbp, %rsi\n"                                                 \
          "  mov $" #size ", %edx\n"                                           \
          "  mov $" #access ", %ecx\n"                                         \
          "  jmp watched_access\n"                                             \
          ".popsection\n");
#define HELPERS(name, access)                                                  \
  HELPER(name, access, 1)                                                      \
  HELPER(name, access, 2)                                                      \
  HELPER(name, access, 4)                                                      \
  HELPER(name, access, 8)                                                      \
  HELPER(name, access, 16)                                                     \
  HELPER(name, access, 32)
HELPERS(load, 0)
HELPERS(swap, 1)
HELPERS(store, 2)
CH_STATIC_ASSERT(CH_WATCH_LOAD == 0 && CH_WATCH_SWAP == 1 &&
                     CH_WATCH_STORE == 2,
                 "the numbers above");

void *ch_watch_helper(enum ch_watch_access access, UInt size) {
#define POINTERS(name)                                                         \
  {                                                                            \
    ch_watched_##name##_1, ch_watched_##name##_2, ch_watched_##name##_4,       \
        ch_watched_##name##_8, ch_watched_##name##_16, ch_watched_##name##_32  \
  }
  static void (*const helpers[CH_WATCH_ACCESSES][6])(void) = {
      POINTERS(load), POINTERS(swap), POINTERS(store)};
  return helpers[access][__builtin_ctz(size)];
}
