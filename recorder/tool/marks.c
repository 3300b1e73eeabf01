/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the program's own stores changed. Their addresses and values are not
 * logged one by one: generated code marks the bytes it stored to in a map of
 * the address space, byte for byte (one instruction: the same address plus a
 * constant, the same width, all ones), and the stretch of 512 bytes where they
 * begin in a second map. At the end of a block, and before anything else
 * changes the memory map or, while other threads run, the bytes themselves
 * (memory.c), the granules marked since the last time are told with the bytes
 * they hold by then.
 *
 * A store is marked after it happened, so an address that faults is never
 * marked. A mark of a stretch vouches for the MARKS_REACH bytes from where it
 * was set, which may be in the next.
 *
 * Costs: as much memory again as the program writes to; telling looks at every
 * stretch that was written, and at a 512th of all memory that ever was.
 */
#include "tool.h"
#include <smmintrin.h>

#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_NORESERVE 0x4000
#define MADV_NOHUGEPAGE 15
#define MADV_DONTDUMP 16

/* Where the maps are, and what they cover. Programs end up above that only if
   they ask for it. */
#define CLIENT_END 0x100000000000ull
#define MARKS 0x200040404040ull
#define STRETCH_MARKS 0x310000000008ull
CH_STATIC_ASSERT((MARKS / 8 & 0xffffffff) == 0x08080808,
                 "are marks themselves");
CH_STATIC_ASSERT((STRETCH_MARKS / 8 & 0xff) != 0, "is the mark itself");
CH_STATIC_ASSERT(MARKS % 64 == 0 && STRETCH_MARKS % 8 == 0,
                 "are scaled by 8, and lie in lines as what they are of");
CH_STATIC_ASSERT(STRETCH_MARKS > MARKS + CLIENT_END + VKI_PAGE_SIZE, "overlap");

#define STRETCH (1 << MARKS_STRETCH_SHIFT)
#define STRETCHES (VKI_PAGE_SIZE / STRETCH) /* of a page */
CH_STATIC_ASSERT(STRETCHES == 8, "a word of the second map is a page");
/* A page with all its granules, and how much is told in one event. */
#define PAGE_RECORD (sizeof(struct ch_stored_page) + VKI_PAGE_SIZE)
#define EVENT_BYTES (16 * PAGE_RECORD)

Bool marking;

static struct ch_ev_stored *telling; /* the event being filled, or NULL */
static UChar *next, *end;
static UInt pages_told;

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

void marks_init(void) {
  marking = map_at(VG_PGROUNDDN(MARKS), CLIENT_END + VKI_PAGE_SIZE) &&
            map_at(VG_PGROUNDDN(STRETCH_MARKS),
                   CLIENT_END / STRETCH + 2 * VKI_PAGE_SIZE);
}

/* ---- what the maps do not cover ---- */

static SizeT hinted;

void marks_expect_hint(SizeT length) { hinted = length; }

/* Valgrind chooses where a client's mapping goes. The address in a call of mmap
   without MAP_FIXED is a hint (V8 draws one from all of the address space): one
   that is not covered is not taken. (--wrap, see CMakeLists.txt.) */
extern Addr VG_(am_get_advisory_client_simple)(Addr start, SizeT length,
                                               Bool *ok);
extern Addr __real_vgPlain_am_get_advisory(const void *request, Bool for_client,
                                           Bool *ok);
Addr __wrap_vgPlain_am_get_advisory(const void *request, Bool for_client,
                                    Bool *ok) {
  Addr address = __real_vgPlain_am_get_advisory(request, for_client, ok);
  if (!marking || !for_client || !*ok || !hinted ||
      address + hinted <= CLIENT_END)
    return address;
  return VG_(am_get_advisory_client_simple)(0, hinted, ok);
}

/* Whoever insists gets it, and stores are logged from there on. */
void marks_cover(Addr limit) {
  if (!marking || limit <= CLIENT_END)
    return;
  marks_tell_all();
  marking = False;
  VG_(discard_translations)(0, ~0ull, "chronicle");
}

ULong marks_scaled(void) { return MARKS / 8; }
ULong marks_scaled_stretches(void) { return STRETCH_MARKS / 8; }

/* ---- telling ---- */

static void begin_event(void) {
  telling = event(CH_EV_STORED, EVENT_BYTES);
  next = (UChar *)(telling + 1);
  end = (UChar *)telling + EVENT_BYTES;
}

static void finish_event(UInt flags) {
  if (!telling) {
    if (!flags)
      return;
    begin_event();
  }
  telling->flags = flags;
  event_shrink(telling, next - (UChar *)telling);
  event_commit();
  telling = NULL;
}

static void tell_page(Addr page, ULong *granules, Bool safe) {
  UChar copy[VKI_PAGE_SIZE];
  const ULong *from = (const ULong *)page;
  if (!safe) {
    /* Somebody else may have made the file shorter, and what was stored is gone
       with it. */
    if (!memory_copy(page, copy, sizeof copy)) {
      finish_event(0);
      memory_gone(page, page + VKI_PAGE_SIZE, CH_MEM_CORE, VG_INVALID_THREADID);
      return;
    }
    from = (const ULong *)copy;
  }
  if (telling && next + PAGE_RECORD > end)
    finish_event(0);
  if (!telling)
    begin_event();
  struct ch_stored_page *record = (struct ch_stored_page *)next;
  record->address = page;
  ULong *to = (ULong *)(record + 1);
  const Bool calls = memory_is_target(page, page + VKI_PAGE_SIZE);
  for (UInt w = 0; w < STRETCHES; w++) {
    record->granules[w] = granules[w];
    for (ULong bits = granules[w]; bits; bits &= bits - 1) {
      UInt g = w * 64 + __builtin_ctzll(bits);
      *to++ = calls ? memory_without_calls(page + g * 8, from[g]) : from[g];
    }
  }
  next = (UChar *)to;
  pages_told++;
}

UInt marks_pages_told(void) {
  const UInt pages = pages_told;
  pages_told = 0;
  return pages;
}

#define LINE 64

/* Moves marks into bits, one a granule, in two steps: which lines have any
   (most have none, and nobody can foresee which, so there is no branch), then
   those lines' granules. */
__attribute__((target("sse4.1"))) static ULong take_marks(Addr address,
                                                          UInt length) {
  __m128i *marks = (__m128i *)(address + MARKS);
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

/* ---- pages with marks: first they are found, then told ---- */

typedef struct {
  Addr page;
  Bool reached; /* the stretch before it was marked */
} Found;
static Found found[256];
static UInt found_count;

static UChar *stretches_of(Addr page) {
  return (UChar *)STRETCH_MARKS + page / STRETCH;
}

/* Of a page's marks, the program has few lines in the cache. */
static void fetch_marks(Addr page) {
  for (ULong left = *(ULong *)stretches_of(page); left;) {
    const UInt s = __builtin_ctzll(left) / 8;
    left &= ~(0xffull << 8 * s);
#pragma GCC unroll 8
    for (UInt line = 0; line < STRETCH; line += LINE)
      _mm_prefetch((const void *)(page + s * STRETCH + line + MARKS),
                   _MM_HINT_T0);
  }
}

static void tell_if_stored(Addr page, Bool reached, Bool safe) {
  UChar *stretches = stretches_of(page);
  ULong granules[STRETCHES];
  ULong any = 0;
  for (UInt s = 0; s < STRETCHES; s++) {
    granules[s] = stretches[s] ? take_marks(page + s * STRETCH, STRETCH)
                  : reached    ? take_marks(page + s * STRETCH, MARKS_REACH)
                               : 0;
    any |= granules[s];
    reached = stretches[s];
  }
  *(ULong *)stretches = 0;
  if (any)
    tell_page(page, granules, safe);
}

static void tell_found(Bool safe) {
  const UInt ahead = 2; /* about 400 ns */
  for (UInt i = 0; i < found_count; i++) {
    if (i + ahead < found_count)
      fetch_marks(found[i + ahead].page);
    tell_if_stored(found[i].page, found[i].reached, safe);
  }
  found_count = 0;
}

/* A bit for each of sixteen words that is not 0. Mostly all are, over long
   ranges. */
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

/* Tells the pages from one on, up to another, both by number. `reached` has a bit
   a page: the one before it has marks at its end. */
static UInt tell_pages(Addr at, Addr stop, UInt reached, Bool safe) {
  const ULong *pages = (ULong *)STRETCH_MARKS; /* eight stretches each */
  for (UInt count = 16; at < stop; at += count, reached >>= count) {
    UInt marked = marked_of_16(pages + at);
    if (!(marked | reached))
      continue;
    if (count > stop - at) {
      count = stop - at;
      marked &= (1u << count) - 1;
    }
    if (found_count + 16 > sizeof found / sizeof *found)
      tell_found(safe);
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

/* ---- a part: what a page of the second map is of ----
   Programs reserve gigabytes they never write to. The kernel knows which pages of
   the map exist; others are not looked at, which would make them exist. */

#define PART_PAGES (VKI_PAGE_SIZE / STRETCHES)
#define PARTS (CLIENT_END / VKI_PAGE_SIZE / PART_PAGES + 1)
#define FEW_PARTS 64 /* sooner looked at than asked about */
static UChar part_exists[PARTS]; /* once it does, it stays */

/* Of a page, by number. The map begins a page's marks after a page boundary. */
static Addr part_of(Addr page) { return (page + 1) / PART_PAGES; }
static Addr part_end(Addr part) { return (part + 1) * PART_PAGES - 1; }
CH_STATIC_ASSERT(STRETCH_MARKS % VKI_PAGE_SIZE == STRETCHES, "part_of()");

static void find_parts(Addr part, Addr end) {
  UInt missing = 0;
  for (Addr p = part; p < end; p++)
    missing += !part_exists[p];
  if (missing <= FEW_PARTS) {
    VG_(memset)(part_exists + part, True, end - part);
    return;
  }
  for (UInt count; part < end; part += count) {
    Bool exists[MEMORY_EXISTING_MOST];
    count = end - part < MEMORY_EXISTING_MOST ? end - part : MEMORY_EXISTING_MOST;
    memory_find_existing(VG_PGROUNDDN(STRETCH_MARKS) + part * VKI_PAGE_SIZE,
                         count, exists);
    for (UInt i = 0; i < count; i++)
      part_exists[part + i] |= exists[i];
  }
}

static void tell_range(Addr from, Addr to, Bool safe) {
  Addr at = from / VKI_PAGE_SIZE;
  const Addr stop = to / VKI_PAGE_SIZE;
  const Addr last = part_of(stop - 1);
  UInt reached = at && stretches_of(from)[-1];
  find_parts(part_of(at), last + 1);
  for (Addr part = part_of(at); part <= last; part++) {
    const Addr end = part_end(part) < stop ? part_end(part) : stop;
    if (part_exists[part] || reached)
      reached = tell_pages(at, end, reached, safe);
    at = end;
  }
  tell_found(safe);
  /* Nothing else would say that the page behind may have marks. */
  if (reached)
    stretches_of(to)[0] = 1;
}

void marks_tell_range(Addr from, Addr to) {
  if (!marking || !started)
    return;
  from = VG_PGROUNDDN(from);
  to = to > CLIENT_END ? CLIENT_END : VG_PGROUNDUP(to);
  UInt count;
  const WritableRange *ranges = memory_writable(&count);
  for (UInt i = 0; i < count; i++) {
    Addr a = ranges[i].start > from ? ranges[i].start : from;
    Addr b = ranges[i].end < to ? ranges[i].end : to;
    if (a < b)
      tell_range(a, b, ranges[i].anonymous);
  }
  finish_event(0);
}

void marks_tell_all(void) {
  if (!marking || !started)
    return;
  marks_tell_range(0, CLIENT_END);
  finish_event(CH_STORED_ALL);
}
