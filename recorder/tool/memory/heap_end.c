/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/heap_end.h"
#include "recorder/tool/memory/reading.h"

static Addr hole_start, hole_end; /* unmapped, though Valgrind has it mapped */

static UChar rest[VKI_PAGE_SIZE]; /* of the page at the expected end */
static Addr rest_start;           /* 0: there is none */

void ch_heap_end_expect(Addr end) {
  const SizeT length = VG_PGROUNDUP(end) - end;
  const NSegment *s = VG_(am_find_nsegment)(end);
  rest_start =
      s && s->kind == SkAnonC && s->hasW && ch_memory_copy(end, rest, length)
          ? end
          : 0;
}

void ch_heap_end_restore(Addr new_end, Addr old_end) {
  const Addr page_end = VG_PGROUNDUP(new_end);
  if (rest_start == new_end)
    VG_(memcpy)((void *)new_end, rest,
                (old_end < page_end ? old_end : page_end) - new_end);
  rest_start = 0;
}

void ch_heap_end_unmap(Addr start, Addr end) {
  if (sr_isError(
          VG_(do_syscall)(__NR_munmap, start, end - start, 0, 0, 0, 0, 0, 0)))
    return;
  if (hole_start == hole_end)
    hole_end = end;
  hole_start = start;
}

void ch_heap_end_map(Addr end) {
  const Addr stop = end < hole_end ? end : hole_end;
  const NSegment *s = VG_(am_find_nsegment)(hole_start);
  if (hole_start >= stop || !s)
    return;
  SysRes r = VG_(do_syscall)(
      __NR_mmap, hole_start, stop - hole_start,
      (s->hasR ? VKI_PROT_READ : 0) | (s->hasW ? VKI_PROT_WRITE : 0) |
          (s->hasX ? VKI_PROT_EXEC : 0),
      VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, (UWord)-1, 0, 0, 0);
  tl_assert2(!sr_isError(r), "the heap cannot grow again");
  hole_start = stop;
}
