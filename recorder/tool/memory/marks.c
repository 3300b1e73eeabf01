/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include <smmintrin.h>

#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_NORESERVE 0x4000
#define MADV_NOHUGEPAGE 15
#define MADV_DONTDUMP 16

/* The addresses below CLIENT_END are covered. Valgrind puts a program's memory
   there unless the program asks for another address. BYTE_MARKS and
   SECTOR_MARKS are the distances that ch_marks_init() describes. */
#define CLIENT_END 0x100000000000ull
#define BYTE_MARKS 0x200040404040ull
#define SECTOR_MARKS 0x310000000008ull
CH_STATIC_ASSERT((BYTE_MARKS / 8 & 0xffffffff) == 0x08080808,
                 "the low bytes are marks themselves");
CH_STATIC_ASSERT((SECTOR_MARKS / 8 & 0xff) != 0, "the low byte is the mark");
CH_STATIC_ASSERT(BYTE_MARKS % 64 == 0 && SECTOR_MARKS % 8 == 0,
                 "marks are aligned as what they stand for, and scaled by 8");
CH_STATIC_ASSERT(SECTOR_MARKS > BYTE_MARKS + CLIENT_END + VKI_PAGE_SIZE,
                 "the maps do not overlap");

#define SECTOR (1 << CH_SECTOR_SHIFT)
#define SECTORS (VKI_PAGE_SIZE / SECTOR) /* of a page */
CH_STATIC_ASSERT(SECTORS == 8, "one word of the sector map covers one page");
/* A page with all its granules, and how much is sent in one event. */
#define PAGE_RECORD (sizeof(struct ch_stored_page) + VKI_PAGE_SIZE)
#define EVENT_BYTES (16 * PAGE_RECORD)

Bool ch_marking;

static struct ch_ev_stored *sending; /* the event being filled, or NULL */
static UChar *next, *end;
static UInt pages_sent;

/* ---- the maps ---- */

static Bool map_at(Addr address, SizeT length) {
  SysRes r = VG_(do_syscall)(
      __NR_mmap, address, length, VKI_PROT_READ | VKI_PROT_WRITE,
      VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
      (UWord)-1, 0, 0, 0);
  if (sr_isError(r) || sr_Res(r) != address)
    return False;
  VG_(do_syscall)(__NR_madvise, address, length, MADV_DONTDUMP, 0, 0, 0, 0, 0);
  VG_(do_syscall)(__NR_madvise, address, length, MADV_NOHUGEPAGE, 0, 0, 0, 0,
                  0);
  return True;
}

void ch_marks_init(void) {
  ch_marking = map_at(VG_PGROUNDDN(BYTE_MARKS), CLIENT_END + VKI_PAGE_SIZE) &&
               map_at(VG_PGROUNDDN(SECTOR_MARKS),
                      CLIENT_END / SECTOR + 2 * VKI_PAGE_SIZE);
  ch_cursor.byte_marks = BYTE_MARKS / 8;
  ch_cursor.sector_marks = SECTOR_MARKS / 8;
}

/* ---- what the maps do not cover ---- */

static SizeT hinted; /* as ch_marks_expect_hint() says */

void ch_marks_expect_hint(SizeT length) { hinted = length; }

/* Valgrind calls this to choose where a mapping goes; CMakeLists.txt wraps it.
   The address in a call of mmap without MAP_FIXED is only a hint (V8 draws it
   from the whole address space), so a hint that the maps do not cover is not
   taken. Only the first question of a call of mmap is about that hint. If the
   kernel takes no address but its own, as for the rings of io_uring, Valgrind
   lets it choose and asks about a mapping that is already there. */
extern Addr VG_(am_get_advisory_client_simple)(Addr start, SizeT length,
                                               Bool *ok);
extern Addr __real_vgPlain_am_get_advisory(const void *request, Bool for_client,
                                           Bool *ok);
Addr __wrap_vgPlain_am_get_advisory(const void *request, Bool for_client,
                                    Bool *ok) {
  Addr address = __real_vgPlain_am_get_advisory(request, for_client, ok);
  if (!for_client)
    return address;
  const SizeT length = hinted;
  hinted = 0;
  if (!ch_marking || !*ok || !length || address + length <= CLIENT_END)
    return address;
  return VG_(am_get_advisory_client_simple)(0, length, ok);
}

void ch_marks_cover(Addr limit) {
  if (!ch_marking || limit <= CLIENT_END)
    return;
  ch_marks_send_all();
  ch_marking = False;
  ch_discard_all_translations();
  /* Watching needs marks. */
  if (ch_watching)
    ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
}

void ch_marks_mark(Addr address, SizeT length) {
  if (!ch_marking || address + length > CLIENT_END)
    return;
  VG_(memset)((void *)(address + BYTE_MARKS), 1, length);
  for (Addr at = address; at < address + length; at++)
    ((UChar *)SECTOR_MARKS)[at / SECTOR] = 1;
}

/* ---- sending ---- */

static void begin_event(void) {
  sending = ch_event(CH_EV_STORED, EVENT_BYTES);
  next = (UChar *)(sending + 1);
  end = (UChar *)sending + EVENT_BYTES;
}

static void finish_event(UInt flags) {
  if (!sending) {
    if (!flags)
      return;
    begin_event();
  }
  sending->flags = flags;
  ch_event_shrink(sending, next - (UChar *)sending);
  ch_event_commit();
  sending = NULL;
}

/* `granules` has one bit per granule. `safe`: reading the page cannot fault.
   `marks`: those of its bytes, if calls under way may write to the page. */
static void send_page(Addr page, const ULong *granules, Bool safe,
                      const UChar *marks) {
  UChar copy[VKI_PAGE_SIZE];
  const UChar *watched = ch_watch_page(page);
  const ULong *from = (const ULong *)(watched ? (Addr)watched : page);
  if (watched) {
    if (marks)
      ch_call_targets_learn(page, watched, VKI_PAGE_SIZE);
  } else if (marks || !safe) {
    /* If another process made the file shorter, what the program stored beyond
       its end is lost. */
    if (!ch_memory_copy(page, copy, sizeof copy)) {
      finish_event(0);
      ch_contents_log_zeros(page, page + VKI_PAGE_SIZE, CH_MEM_CORE,
                            VG_INVALID_THREADID);
      return;
    }
    if (marks)
      ch_call_targets_separate(page, copy, marks);
    from = (const ULong *)copy;
  }
  if (sending && next + PAGE_RECORD > end)
    finish_event(0);
  if (!sending)
    begin_event();
  struct ch_stored_page *record = (struct ch_stored_page *)next;
  record->address = page;
  ULong *to = (ULong *)(record + 1);
  for (UInt w = 0; w < SECTORS; w++) {
    record->granules[w] = granules[w];
    for (ULong bits = granules[w]; bits; bits &= bits - 1)
      *to++ = from[w * 64 + __builtin_ctzll(bits)];
  }
  next = (UChar *)to;
  pages_sent++;
}

UInt ch_marks_take_page_count(void) {
  const UInt pages = pages_sent;
  pages_sent = 0;
  return pages;
}

#define LINE 64 /* bytes of a cache line */

/* Clears the marks of the bytes and returns one bit per granule that had any.
   The first loop finds the lines with marks. Most have none, and a branch per
   line would be mispredicted, so it has no branch. */
__attribute__((target("sse4.1"))) static ULong take_marks(Addr address,
                                                          UInt length) {
  __m128i *marks = (__m128i *)(address + BYTE_MARKS);
  const __m128i none = _mm_setzero_si128();
  UInt lines = 0;
  for (UInt l = 0; l < length / LINE; l++) {
    const __m128i *line = marks + 4 * l;
    __m128i any = _mm_or_si128(_mm_or_si128(line[0], line[1]),
                               _mm_or_si128(line[2], line[3]));
    lines |= (UInt)!_mm_testz_si128(any, any) << l;
  }
  ULong bits = 0;
  for (; lines; lines &= lines - 1) {
    const UInt l = __builtin_ctz(lines);
    __m128i *line = marks + 4 * l;
    UInt unmarked = 0;
#pragma GCC unroll 4
    for (UInt i = 0; i < 4; i++) {
      __m128i equal = _mm_cmpeq_epi64(line[i], none);
      unmarked |= _mm_movemask_pd(_mm_castsi128_pd(equal)) << (2 * i);
      line[i] = none;
    }
    bits |= (ULong)(unmarked ^ 0xff) << (8 * l);
  }
  return bits;
}

/* ---- pages with marks ----
   They are collected first and sent later, so that the marks of the next ones
   can be prefetched. */

static struct {
  Addr page;
  Bool reached; /* the sector before the page was marked */
} found[256];
static UInt found_count;

static UChar *sectors_of(Addr page) {
  return (UChar *)SECTOR_MARKS + page / SECTOR;
}

/* Few of the byte map's lines are still in the cache when they are needed. */
static void prefetch_marks(Addr page) {
  for (ULong left = *(ULong *)sectors_of(page); left;) {
    const UInt s = __builtin_ctzll(left) / 8;
    left &= ~(0xffull << 8 * s);
#pragma GCC unroll 8
    for (UInt line = 0; line < SECTOR; line += LINE)
      _mm_prefetch((const void *)(page + s * SECTOR + line + BYTE_MARKS),
                   _MM_HINT_T0);
  }
}

static void send_if_stored(Addr page, Bool reached, Bool safe) {
  UChar *sectors = sectors_of(page);
  UChar marks[VKI_PAGE_SIZE];
  ULong granules[SECTORS];
  ULong any = 0;
  const Bool calls = ch_call_targets_overlap(page, page + VKI_PAGE_SIZE);
  if (calls)
    VG_(memcpy)(marks, (void *)(page + BYTE_MARKS), sizeof marks);
  for (UInt s = 0; s < SECTORS; s++) {
    granules[s] = sectors[s] ? take_marks(page + s * SECTOR, SECTOR)
                  : reached  ? take_marks(page + s * SECTOR, CH_MARKS_REACH)
                             : 0;
    any |= granules[s];
    reached = sectors[s];
  }
  *(ULong *)sectors = 0;
  if (any)
    send_page(page, granules, safe, calls ? marks : NULL);
}

static void send_found(Bool safe) {
  const UInt ahead = 2; /* pages; sending one takes about 200 ns */
  for (UInt i = 0; i < found_count; i++) {
    if (i + ahead < found_count)
      prefetch_marks(found[i + ahead].page);
    send_if_stored(found[i].page, found[i].reached, safe);
  }
  found_count = 0;
}

/* One bit per word of sixteen that is not 0. Over long ranges all of them are
   0, so that is found out first. */
__attribute__((target("sse4.1"))) static UInt marked_of_16(const ULong *pages) {
  const __m128i *p = (const __m128i *)pages;
  const __m128i none = _mm_setzero_si128();
  __m128i any = _mm_loadu_si128(p);
#pragma GCC unroll 7
  for (UInt i = 1; i < 8; i++)
    any = _mm_or_si128(any, _mm_loadu_si128(p + i));
  if (_mm_testz_si128(any, any))
    return 0;
  UInt unmarked = 0;
#pragma GCC unroll 8
  for (UInt i = 0; i < 8; i++) {
    __m128i equal = _mm_cmpeq_epi64(_mm_loadu_si128(p + i), none);
    unmarked |= _mm_movemask_pd(_mm_castsi128_pd(equal)) << (2 * i);
  }
  return unmarked ^ 0xffff;
}

/* Collects the pages with marks from number `at` up to `stop`, and sends them
   when there are many. `reached` has one bit per page: the last sector of the
   page before it is marked. Returns that of the pages from `stop` on. */
static UInt collect_pages(Addr at, Addr stop, UInt reached, Bool safe) {
  const ULong *pages = (ULong *)SECTOR_MARKS; /* eight sectors each */
  for (UInt count = 16; at < stop; at += count, reached >>= count) {
    UInt marked = marked_of_16(pages + at);
    if (!(marked | reached))
      continue;
    if (count > stop - at) {
      count = stop - at;
      marked &= (1u << count) - 1;
    }
    if (found_count + 16 > sizeof found / sizeof *found)
      send_found(safe);
    for (marked |= reached; marked & ((1u << count) - 1);
         marked &= marked - 1) {
      const UInt i = __builtin_ctz(marked);
      found[found_count].page = (at + i) * VKI_PAGE_SIZE;
      found[found_count++].reached = reached >> i & 1;
      if (pages[at + i] >> 56)
        reached |= 2u << i, marked |= 2u << i;
    }
  }
  return reached;
}

/* ---- regions ----
   A region is what one page of the sector map covers: 2 MiB. Programs reserve
   gigabytes that they never write to. Looking at a page of the map would make
   it exist, so the kernel is asked which pages exist, and the regions of the
   others are skipped. */

#define REGION_PAGES (VKI_PAGE_SIZE / SECTORS)
#define REGIONS (CLIENT_END / VKI_PAGE_SIZE / REGION_PAGES + 1)
/* Up to this many are looked at without asking the kernel, which is quicker. */
#define FEW_REGIONS 64
static UChar region_exists[REGIONS]; /* stays True */

/* The region of a page, by number, and the first page behind a region. The
   sector map begins one page's marks after a page boundary. */
static Addr region_of(Addr page) { return (page + 1) / REGION_PAGES; }
static Addr region_end(Addr region) { return (region + 1) * REGION_PAGES - 1; }
CH_STATIC_ASSERT(SECTOR_MARKS % VKI_PAGE_SIZE == SECTORS, "region_of()");

static void find_regions(Addr region, Addr end) {
  UInt missing = 0;
  for (Addr r = region; r < end; r++)
    missing += !region_exists[r];
  if (missing <= FEW_REGIONS) {
    VG_(memset)(region_exists + region, True, end - region);
    return;
  }
  for (UInt count; region < end; region += count) {
    Bool exists[CH_MOST_PAGES_TO_FIND];
    count = end - region < CH_MOST_PAGES_TO_FIND ? end - region
                                                 : CH_MOST_PAGES_TO_FIND;
    ch_find_existing_pages(VG_PGROUNDDN(SECTOR_MARKS) + region * VKI_PAGE_SIZE,
                           count, exists);
    for (UInt i = 0; i < count; i++)
      region_exists[region + i] |= exists[i];
  }
}

static void send_range(Addr from, Addr to, Bool safe) {
  Addr at = from / VKI_PAGE_SIZE;
  const Addr stop = to / VKI_PAGE_SIZE;
  const Addr last = region_of(stop - 1);
  UInt reached = at && sectors_of(from)[-1];
  find_regions(region_of(at), last + 1);
  for (Addr region = region_of(at); region <= last; region++) {
    const Addr end = region_end(region) < stop ? region_end(region) : stop;
    if (region_exists[region] || reached)
      reached = collect_pages(at, end, reached, safe);
    at = end;
  }
  send_found(safe);
  /* The page behind the range may have marks that the mark just cleared stood
     for. */
  if (reached)
    sectors_of(to)[0] = 1;
}

void ch_marks_send_range(Addr from, Addr to) {
  if (!ch_marking || !ch_started)
    return;
  from = VG_PGROUNDDN(from);
  to = to > CLIENT_END ? CLIENT_END : VG_PGROUNDUP(to);
  UInt count;
  const struct ch_writable_range *ranges = ch_writable_ranges(&count);
  UInt first = 0, last = count; /* the first range that ends behind `from` */
  while (first < last) {
    const UInt middle = (first + last) / 2;
    if (ranges[middle].end > from)
      last = middle;
    else
      first = middle + 1;
  }
  for (UInt i = first; i < count && ranges[i].start < to; i++) {
    Addr a = ranges[i].start > from ? ranges[i].start : from;
    Addr b = ranges[i].end < to ? ranges[i].end : to;
    if (a < b)
      send_range(a, b, ranges[i].anonymous);
  }
  finish_event(0);
}

void ch_marks_send_all(void) {
  if (!ch_marking || !ch_started)
    return;
  ch_marks_send_range(0, CLIENT_END);
  finish_event(CH_STORED_ALL);
}
