/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/heap_end.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/shared_ranges.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

static Addr stack_start, stack_end; /* growth that is not logged yet */
static Bool expect_shared;
static UWord expect_shm;

void ch_mappings_expect_shared(Bool shared, UWord shm_id) {
  expect_shared = shared;
  expect_shm = shm_id;
}

/* ---- new mappings ---- */

static UInt protection(Bool r, Bool w, Bool x) {
  return (r ? CH_PROT_READ : 0) | (w ? CH_PROT_WRITE : 0) |
         (x ? CH_PROT_EXEC : 0);
}

static void log_map(Addr start, Addr end, const NSegment *s, UInt flags,
                    UInt object, ULong offset) {
  const HChar *name = VG_(am_get_filename)(s);
  UInt length = name ? VG_(strlen)(name) : 0;
  struct ch_ev_map *e = ch_event(CH_EV_MAP, sizeof *e + length);
  e->address = start;
  e->length = end - start;
  e->offset = offset;
  e->device = s->dev;
  e->inode = s->ino;
  e->protection = protection(s->hasR, s->hasW, s->hasX);
  e->flags = flags | (s->kind == SkFileC ? CH_MAP_FILE : 0) |
             (object ? CH_MAP_SHARED : 0);
  e->object = object;
  e->thread = ch_thread_number(VG_(get_running_tid)());
  VG_(memcpy)(e + 1, name, length);
}

/* The number of the shared object that is being mapped; 0: it is not shared. */
static UInt object_being_mapped(const NSegment *s) {
  if (expect_shm)
    return ch_shared_object_number(~0ull, expect_shm);
  if (!expect_shared)
    return 0;
  return s->kind == SkFileC ? ch_shared_object_number(s->dev, s->ino)
                            : ch_new_anonymous_object();
}

/* Logs the part [start, end) of a segment: a map event, then the contents where
   they need not be zero. */
static void log_segment(Addr start, Addr end, const NSegment *s, UInt flags,
                        enum ch_memory_source source,
                        const struct ch_shared_range *moved) {
  ULong offset = s->kind == SkFileC ? s->offset + (start - s->start) : 0;
  UInt object;
  if (moved) {
    object = moved->object;
    offset = moved->offset;
  } else
    object = object_being_mapped(s);
  log_map(start, end, s, flags, object, offset);
  if (object) {
    ch_shared_range_add(start, end, offset, object);
    /* Other processes may write to it. Anonymous memory is the program's own
       until it forks. */
    if ((s->kind == SkFileC && s->hasW) || s->kind == SkShmC)
      ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
  }
  if (s->kind == SkFileC && s->hasW && s->hasX)
    VG_(clo_smc_check) = CH_SMC_CHECK_ALL;
  if (s->kind != SkAnonC || source != CH_MEM_MAPPED || moved || object)
    ch_contents_log(start, end - start, source, VG_(get_running_tid)(), False);
}

static void map_changed(Addr start, Addr end) {
  ch_segments_changed();
  ch_call_targets_forget(start, end);
  ch_shared_range_forget(start, end);
}

/* Logs what is mapped at [start, end) now. `moved`: the shared range that
   mremap moved there, or NULL. */
static void log_mapped(Addr start, Addr end, UInt flags,
                       enum ch_memory_source source,
                       const struct ch_shared_range *moved) {
  ch_marks_cover(end);
  map_changed(start, end);
  while (start < end) {
    const NSegment *s = VG_(am_find_nsegment)(start);
    tl_assert(s);
    Addr stop = s->end + 1 < end ? s->end + 1 : end;
    if (s->kind & CH_SEGMENT_KINDS)
      log_segment(start, stop, s, flags, source, moved);
    start = stop;
  }
}

static void new_mapping(Addr address, SizeT length, Bool r, Bool w, Bool x,
                        ULong debug_info) {
  if (ch_recording && ch_started && length)
    log_mapped(address, address + length, 0, CH_MEM_MAPPED, NULL);
}

static void moved_mapping(Addr from, Addr to, SizeT length) {
  if (!ch_recording || !ch_started)
    return;
  const struct ch_shared_range *old = ch_shared_range_find(from);
  if (old) {
    struct ch_shared_range moved = *old;
    moved.offset += from - old->start;
    log_mapped(to, to + length, 0, CH_MEM_MAPPED, &moved);
  } else
    /* As a new mapping with contents. */
    log_mapped(to, to + length, 0, CH_MEM_SYSCALL, NULL);
}

void ch_mappings_log_startup(void) {
  Addr sp = VG_(get_SP)(1);
  ch_mappings_expect_shared(False, 0);
  for (const NSegment *s = ch_next_segment(0); s;
       s = ch_next_segment(s->end + 1)) {
    Bool stack = s->start <= sp && sp <= s->end;
    log_mapped(s->start, s->end + 1,
               CH_MAP_STARTUP | (stack ? CH_MAP_STACK : 0), CH_MEM_STARTUP,
               NULL);
  }
  ch_block_must_end = True;
}

/* ---- changes of mappings ---- */

static void log_range(enum ch_event_kind kind, Addr address, SizeT length,
                      UInt prot) {
  struct ch_ev_range *e = ch_event(kind, sizeof *e);
  e->address = address;
  e->length = length;
  e->protection = prot;
  e->thread = ch_thread_number(VG_(get_running_tid)());
}

static void unmapped(Addr address, SizeT length) {
  if (!ch_recording || !ch_started || !length)
    return;
  map_changed(address, address + length);
  log_range(CH_EV_UNMAP, address, length, 0);
}

static void protected(Addr address, SizeT length, Bool r, Bool w, Bool x) {
  if (!ch_recording || !ch_started || !length)
    return;
  ch_segments_changed();
  log_range(CH_EV_PROTECT, address, length, protection(r, w, x));
  const NSegment *s = VG_(am_find_nsegment)(address);
  if (s && s->kind == SkFileC && x) {
    /* By default Valgrind does not check whether code in mapped files has
       changed; if the files can be written it must. Code that was patched while
       it was not executable has to be translated again. */
    if (w)
      VG_(clo_smc_check) = CH_SMC_CHECK_ALL;
    VG_(discard_translations)(address, length, "chronicle");
  }
  if (s && w && s->kind == SkFileC && ch_shared_range_find(address))
    ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
}

/* The end of the heap moves by bytes; its last page is zero beyond the end. */
static void brk_grew(Addr address, SizeT length, ThreadId tid) {
  Addr start = VG_PGROUNDUP(address), end = VG_PGROUNDUP(address + length);
  ch_heap_end_map(end); /* in a forked child, too */
  if (ch_recording && ch_started && start < end)
    log_mapped(start, end, CH_MAP_HEAP, CH_MEM_MAPPED, NULL);
}

static void brk_shrank(Addr address, SizeT length) {
  Addr start = VG_PGROUNDUP(address), end = VG_PGROUNDUP(address + length);
  if (!ch_recording || !ch_started || !length)
    return;
  ch_heap_end_restore(address, address + length);
  if (start > address)
    ch_contents_log(address, start - address, CH_MEM_SYSCALL,
                    VG_(get_running_tid)(), True);
  if (start < end) {
    unmapped(start, end - start);
    ch_heap_end_unmap(start, end);
  }
}

void ch_mappings_stack_grew(Addr start, Addr end) {
  ch_segments_changed();
  if (stack_end != 0 && stack_start != end)
    ch_mappings_log_stack_growth();
  if (!stack_end)
    stack_end = end;
  stack_start = start;
}

void ch_mappings_log_stack_growth(void) {
  if (!stack_end)
    return;
  Addr start = stack_start, end = stack_end;
  stack_end = 0;
  log_mapped(start, end, CH_MAP_STACK, CH_MEM_MAPPED, NULL);
}

void ch_mappings_before_fork(void) {
  if (!ch_have_anonymous_objects())
    return;
  /* Valgrind has blocked all signals, so a fault would end the process. */
  const Bool before = ch_read_through_kernel(True);
  ch_start_logging_loads(CH_LOADS_SHARED_MEMORY);
  ch_read_through_kernel(before);
}

void ch_mappings_init(void) {
  VG_(track_new_mem_mmap)(new_mapping);
  VG_(track_change_mem_mprotect)(protected);
  VG_(track_die_mem_munmap)(unmapped);
  VG_(track_copy_mem_remap)(moved_mapping);
  VG_(track_new_mem_brk)(brk_grew);
  VG_(track_die_mem_brk)(brk_shrank);
}
