/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/mappings.h"
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/emptied_pages.h"
#include "recorder/tool/memory/heap_end.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/memory/shared_ranges.h"
#include "recorder/tool/memory/watch.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"
#include "recorder/tool/stream/threads.h"

static Addr stack_start, stack_end; /* growth that is not logged yet */
/* Addresses in the main stack and in the heap; 0: there is none. */
static Addr in_stack, in_heap;
static Bool expect_shared;
static Int expect_fd;
static UWord expect_shm;

void ch_mappings_expect_shared(Bool shared, Int fd, UWord shm_id) {
  expect_shared = shared;
  expect_fd = fd;
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

/* ---- mappings that others can change ---- */

static Bool shared_with_others; /* the program forked or passed descriptors */

/* Watches memory that was mapped before. What the trace has is what memory
   holds, apart from stores that have not been sent. */
static void watch_mapped(Addr start, Addr end, UInt object, ULong offset) {
  static UChar bytes[CH_MEMORY_RECORD_BYTES];
  if (ch_never_log_loads || ch_watch_overlaps(start, end))
    return;
  ch_marks_send_range(start, end);
  ch_watch_add(start, end, object, offset);
  if (ch_logging_loads)
    return;
  for (Addr at = start; at < end;) {
    SizeT n = end - at < sizeof bytes ? end - at : sizeof bytes;
    const SizeT got = ch_memory_read(at, bytes, n);
    ch_call_targets_undo(at, bytes, got);
    ch_watch_learn(at, bytes, got);
    at += got < n ? VG_PGROUNDDN(got) + VKI_PAGE_SIZE : n;
  }
  ch_start_watching();
}

void ch_mappings_watch_word(Addr word) {
  const Addr page = VG_PGROUNDDN(word);
  const struct ch_shared_range *r = ch_shared_range_find(page);
  if (VG_(am_is_valid_for_client)(word, 4, VKI_PROT_WRITE))
    watch_mapped(page, page + VKI_PAGE_SIZE, r ? r->object : 0,
                 r ? r->offset + (page - r->start) : 0);
}

/* Watches all mappings of an object but the one at `except`. */
static void watch_object(UInt object, Addr except) {
  UInt count;
  const struct ch_shared_range *ranges = ch_shared_ranges(&count);
  for (UInt i = 0; i < count; i++)
    if (ranges[i].object == object && ranges[i].start != except)
      watch_mapped(ranges[i].start, ranges[i].end, object, ranges[i].offset);
}

/* Watches the private mappings of a file. */
static void watch_private(ULong device, ULong inode) {
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++)
    if (ranges[i].device == device && ranges[i].inode == inode &&
        !ch_shared_range_find(ranges[i].start))
      watch_mapped(ranges[i].start, ranges[i].end, 0, 0);
}

static Bool can_write(Int fd) {
  const Int flags = fd < 0 ? -1 : VG_(fcntl)(fd, VKI_F_GETFL, 0);
  return flags >= 0 && (flags & VKI_O_ACCMODE) != VKI_O_RDONLY;
}

/* Whether others can change the shared file that is being mapped. Files of the
   system, which only root can write and which the program has opened for
   reading, are left to the audit (the C library maps one in most programs). */
static Bool others_can_write(Int fd) {
  struct vg_stat file;
  return can_write(fd) || VG_(fstat)(fd, &file) != 0 ||
         !VKI_S_ISREG(file.mode) || file.uid != 0 || (file.mode & 022);
}

/* Whether the program stores to the file through a shared mapping. */
static Bool is_stored_to(ULong device, ULong inode) {
  UInt count;
  const struct ch_shared_range *ranges = ch_shared_ranges(&count);
  for (UInt i = 0; i < count; i++) {
    const NSegment *s = VG_(am_find_nsegment)(ranges[i].start);
    if (s && s->kind == SkFileC && s->hasW && s->dev == device &&
        s->ino == inode)
      return True;
  }
  return False;
}

static Bool is_watched(UInt object) {
  UInt count;
  const struct ch_shared_range *ranges = ch_shared_ranges(&count);
  for (UInt i = 0; i < count; i++)
    if (ranges[i].object == object &&
        ch_watch_overlaps(ranges[i].start, ranges[i].end))
      return True;
  return False;
}

/* Whether the mapping that is being made must be watched. */
static Bool must_watch(const NSegment *s, UInt object, Bool moved) {
  if (!object)
    return s->kind == SkFileC && (is_stored_to(s->dev, s->ino) ||
                                  (shared_with_others && can_write(expect_fd)));
  if (is_watched(object))
    return True;
  if (s->kind == SkShmC)
    return True;
  if (moved || s->kind != SkFileC)
    return False;
  return ch_shared_object_is_own(object) ? shared_with_others
                                         : others_can_write(expect_fd);
}

static void watch_new(Addr start, Addr end, const NSegment *s, UInt object,
                      ULong offset, Bool moved) {
  if (ch_never_log_loads)
    return;
  if (must_watch(s, object, moved)) {
    if (object && !is_watched(object))
      watch_object(object, start);
    ch_watch_add(start, end, object, offset);
    ch_start_watching();
  }
  if (object && s->kind == SkFileC && s->hasW)
    watch_private(s->dev, s->ino);
}

/* Watches the private mappings of files that a descriptor can write. */
static void watch_written_files(void) {
  HChar names[4096];
  struct vg_stat file;
  SysRes list = VG_(open)("/proc/self/fd", VKI_O_RDONLY, 0);
  if (sr_isError(list))
    return;
  for (;;) {
    const Int size = VG_(getdents64)(sr_Res(list), (struct vki_dirent64 *)names,
                                     sizeof names);
    if (size <= 0)
      break;
    for (Int at = 0; at < size;) {
      const struct vki_dirent64 *entry = (struct vki_dirent64 *)(names + at);
      const Int fd = VG_(strtoll10)(entry->d_name, NULL);
      if (can_write(fd) && VG_(fstat)(fd, &file) == 0 && VKI_S_ISREG(file.mode))
        watch_private(file.dev, file.ino);
      at += entry->d_reclen;
    }
  }
  VG_(close)(sr_Res(list));
}

void ch_mappings_made_memfd(Int fd) {
  struct vg_stat file;
  if (VG_(fstat)(fd, &file) == 0)
    ch_shared_object_made(file.dev, file.ino);
}

void ch_mappings_before_sharing(void) {
  /* Valgrind has blocked all signals, so a fault would end the process. */
  const Bool before = ch_read_through_kernel(True);
  shared_with_others = True;
  UInt count;
  ch_shared_ranges(&count);
  for (UInt i = 0; i < count; i++) {
    const struct ch_shared_range r = ch_shared_ranges(&count)[i];
    if (ch_shared_object_is_own(r.object))
      watch_mapped(r.start, r.end, r.object, r.offset);
  }
  watch_written_files();
  ch_read_through_kernel(before);
}

/* ---- new mappings, logged ---- */

static void accept_file(const NSegment *s) {
  struct vg_stat file;
  const HChar *name = VG_(am_get_filename)(s);
  if (expect_fd >= 0 ? VG_(fstat)(expect_fd, &file) == 0
                     : name && !sr_isError(VG_(stat)(name, &file)))
    ch_audit_accept_file(&file);
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
  if (object)
    ch_shared_range_add(start, end, offset, object);
  watch_new(start, end, s, object, offset, moved != NULL);
  if (s->kind == SkFileC)
    accept_file(s);
  if (s->kind == SkFileC && s->hasW && s->hasX)
    VG_(clo_smc_check) = CH_SMC_CHECK_ALL;
  if (s->kind != SkAnonC || source != CH_MEM_MAPPED || moved)
    ch_contents_log(start, end - start, source, VG_(get_running_tid)(), False);
}

static void map_changed(Addr start, Addr end) {
  ch_segments_changed();
  ch_call_targets_forget(start, end);
  ch_shared_range_forget(start, end);
  ch_watch_forget(start, end);
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
  in_stack = sp;
  ch_mappings_expect_shared(False, -1, 0);
  for (const NSegment *s = ch_next_segment(0); s;
       s = ch_next_segment(s->end + 1)) {
    Bool stack = s->start <= sp && sp <= s->end;
    log_mapped(s->start, s->end + 1,
               CH_MAP_STARTUP | (stack ? CH_MAP_STACK : 0), CH_MEM_STARTUP,
               NULL);
  }
  ch_block_must_end = True;
}

/* ---- mappings of a forked child ---- */

static void log_existing(ThreadId tid, Addr start, Addr end, Bool exist) {
  if (exist)
    ch_contents_log(start, end - start, CH_MEM_STARTUP, tid, True);
}

static UInt inherited_flags(const NSegment *s) {
  const Bool stack = s->start <= in_stack && in_stack <= s->end;
  const Bool heap = in_heap && s->start <= in_heap && in_heap <= s->end;
  return CH_MAP_STARTUP | (stack ? CH_MAP_STACK : 0) |
         (heap && s->kind == SkAnonC ? CH_MAP_HEAP : 0);
}

/* Logs the part [start, end) of a segment, of which `r` is shared, or nothing
   if it is NULL. */
static void log_inherited(Addr start, Addr end, const NSegment *s,
                          const struct ch_shared_range *r) {
  const ULong offset = r                    ? r->offset + (start - r->start)
                       : s->kind == SkFileC ? s->offset + (start - s->start)
                                            : 0;
  log_map(start, end, s, inherited_flags(s), r ? r->object : 0, offset);
  if (s->kind == SkAnonC && !r)
    ch_each_run_of_pages(start, end, log_existing, VG_INVALID_THREADID);
  else
    ch_contents_log(start, end - start, CH_MEM_STARTUP, VG_INVALID_THREADID,
                    False);
}

void ch_mappings_log_inherited(void) {
  /* Valgrind has blocked all signals, so a fault would end the process. */
  const Bool before = ch_read_through_kernel(True);
  for (const NSegment *s = ch_next_segment(0); s;
       s = ch_next_segment(s->end + 1)) {
    const Addr end = s->end + 1;
    for (Addr start = s->start, stop; start < end; start = stop) {
      UInt count;
      const struct ch_shared_range *r = ch_shared_range_find(start);
      stop = r && r->end < end ? r->end : end;
      const struct ch_shared_range *ranges = ch_shared_ranges(&count);
      for (UInt i = 0; i < count && !r; i++)
        if (ranges[i].start > start && ranges[i].start < stop)
          stop = ranges[i].start;
      log_inherited(start, stop, s, r);
    }
  }
  ch_read_through_kernel(before);
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
    watch_private(s->dev, s->ino);
}

/* The end of the heap moves by bytes; its last page is zero beyond the end. */
static void brk_grew(Addr address, SizeT length, ThreadId tid) {
  Addr start = VG_PGROUNDUP(address), end = VG_PGROUNDUP(address + length);
  ch_heap_end_map(end); /* in a forked child, too */
  if (!in_heap && length)
    in_heap = address;
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

void ch_mappings_init(void) {
  VG_(track_new_mem_mmap)(new_mapping);
  VG_(track_change_mem_mprotect)(protected);
  VG_(track_die_mem_munmap)(unmapped);
  VG_(track_copy_mem_remap)(moved_mapping);
  VG_(track_new_mem_brk)(brk_grew);
  VG_(track_die_mem_brk)(brk_shrank);
}
