/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings and their contents. Contents of files are logged when they are
 * mapped, whole, so that a trace needs nothing but itself. Bytes that may not be
 * readable go through /proc/self/mem, which fails where memory would fault and
 * does not mind PROT_NONE.
 */
#include "tool.h"
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_signals.h"

#define SEGMENT_KINDS (SkFileC | SkAnonC | SkShmC)
#define AUDIT_LIMIT (256ul << 20) /* bytes compared at the end of the run */

static Int memory_fd = -1;
static Addr stack_start, stack_end; /* growth not yet logged */

/* ---- contents ---- */

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

/* Through the kernel. Returns how many bytes could be read. */
static SizeT read_some(Addr address, void *to, SizeT length) {
  SysRes r = VG_(do_syscall)(__NR_pread64, memory_fd, (UWord)to, length,
                             address, 0, 0, 0, 0);
  return sr_isError(r) ? 0 : sr_Res(r);
}

static Bool read_all(Addr address, void *to, SizeT length) {
  return read_some(address, to, length) == length;
}

/* ---- reading what may fault all the same: a file that became shorter ---- */

static VG_MINIMAL_JMP_BUF(faulted);

static void read_faulted(Int signal, Addr address) {
  VG_MINIMAL_LONGJMP(faulted);
}

/* We left Valgrind's handler, in which all signals are blocked and the kernel has
   set the FPU to its own default, for code in which those of faults are not, and
   the FPU is as Valgrind has it. */
static void leave_handler(void) {
  const UShort fpu_control = 0x27f;
  __asm__ __volatile__("fldcw %0" ::"m"(fpu_control));
  static const Int numbers[] = {VKI_SIGSEGV, VKI_SIGBUS, VKI_SIGFPE, VKI_SIGILL,
                                VKI_SIGTRAP};
  vki_sigset_t set;
  VG_(sigemptyset)(&set);
  for (UInt i = 0; i < sizeof numbers / sizeof *numbers; i++)
    VG_(sigaddset)(&set, numbers[i]);
  VG_(sigprocmask)(VKI_SIG_UNBLOCK, &set, NULL);
}

/* A read of our own may block, or a fault would be the end. */
static Bool ask_kernel;

void memory_expect_holes(void) { ask_kernel = True; }

Bool memory_copy(Addr address, UChar *to, SizeT length) {
  if (ask_kernel)
    return read_all(address, to, length);
  const Bool in_client_code = VG_(in_generated_code);
  volatile Bool copied = False;
  VG_(in_generated_code) = False; /* nobody else's faults are caught */
  fault_catcher_t before = VG_(set_fault_catcher)(read_faulted);
  if (VG_MINIMAL_SETJMP(faulted) == 0) {
    VG_(memcpy)(to, (void *)address, length);
    copied = True;
  } else
    leave_handler();
  VG_(set_fault_catcher)(before);
  VG_(in_generated_code) = in_client_code;
  return copied;
}

/* At most a record's worth. Returns how many bytes could be read. */
static SizeT log_piece(Addr address, SizeT length, UInt source, ThreadId tid,
                       Bool safe, Bool by_reference) {
  struct ch_ev_memory *e = event(CH_EV_MEMORY, sizeof *e + length);
  UChar *bytes = (UChar *)(e + 1);
  SizeT got = length;
  if (safe)
    VG_(memcpy)(bytes, (void *)address, length);
  else {
    got = read_some(address, bytes, length);
    if (!got) {
      event_cancel(e);
      return 0;
    }
  }
  e->address = address;
  e->length = got;
  e->thread = thread_number(tid);
  e->source = source;
  if (all_zero(bytes, got)) {
    e->flags = CH_MEM_ZERO;
    event_shrink(e, sizeof *e);
  } else {
    if (by_reference) {
      e->flags = CH_MEM_BY_REFERENCE;
      block_must_end = True;
    }
    event_shrink(e, sizeof *e + got);
  }
  return got;
}

void memory_log(Addr address, SizeT length, UInt source, ThreadId tid,
                Bool safe) {
  Bool by_reference = length >= CH_BY_REFERENCE_BYTES;
  while (length) {
    SizeT n = CH_MEMORY_RECORD_BYTES - address % CH_MEMORY_RECORD_BYTES;
    if (n > length)
      n = length;
    SizeT got = log_piece(address, n, source, tid, safe, by_reference);
    if (got < n) /* an unreadable page, such as one past the end of a file */
      got = VG_PGROUNDUP(address + got + 1) - address;
    if (got > length)
      got = length;
    address += got;
    length -= got;
  }
}

/* The first segment that starts at or after the address; NULL: none. */
static const NSegment *next_segment(Addr after) {
  Int count;
  Addr *starts = VG_(get_segment_starts)(SEGMENT_KINDS, &count);
  const NSegment *found = NULL;
  for (Int i = 0; i < count && !found; i++)
    if (starts[i] >= after)
      found = VG_(am_find_nsegment)(starts[i]);
  VG_(free)(starts);
  return found;
}

void memory_gone(Addr start, Addr end, UInt source, ThreadId tid) {
  struct ch_ev_memory *e = event(CH_EV_MEMORY, sizeof *e);
  e->address = start;
  e->length = end - start;
  e->thread = thread_number(tid);
  e->source = source;
  e->flags = CH_MEM_ZERO;
}

void memory_file_cut(ULong device, ULong inode, ULong size, ThreadId tid) {
  for (const NSegment *s = next_segment(0); s; s = next_segment(s->end + 1)) {
    if (s->kind != SkFileC || s->dev != device || s->ino != inode)
      continue;
    const ULong kept = VG_PGROUNDUP(size);
    const Addr gone = s->start + (kept > s->offset ? kept - s->offset : 0);
    if (gone <= s->end)
      memory_gone(gone, s->end + 1, CH_MEM_SYSCALL, tid);
  }
}

/* ---- where the program can write ---- */

static WritableRange *writable;
static UInt writable_used, writable_size;
static Bool writable_known;

const WritableRange *memory_writable(UInt *count) {
  if (!writable_known) {
    Int n;
    Addr *starts = VG_(get_segment_starts)(SEGMENT_KINDS, &n);
    if (writable_size < n) {
      writable_size = 2 * n;
      writable = VG_(realloc)("chronicle.writable", writable,
                              writable_size * sizeof *writable);
    }
    writable_used = 0;
    for (Int i = 0; i < n; i++) {
      const NSegment *s = VG_(am_find_nsegment)(starts[i]);
      if (!s->hasW)
        continue;
      WritableRange r = {s->start, s->end + 1, s->kind == SkAnonC};
      writable[writable_used++] = r;
    }
    VG_(free)(starts);
    writable_known = True;
  }
  *count = writable_used;
  return writable;
}

/* ---- shared mappings ---- */

/* Every page of a shared object has one image, however often it is mapped. The
   objects are told apart by device and inode; anonymous ones are never the same
   (but through mremap, which keeps the object). */
typedef struct {
  Addr start, end;
  ULong offset;
  UInt object;
} SharedRange;
static SharedRange *ranges;
static UInt ranges_used, ranges_size;

typedef struct {
  ULong device, inode;
} SharedObject;
static SharedObject *objects;
static UInt objects_used, objects_size;

static Bool expect_shared;
static UWord expect_shm;
static Bool have_anonymous_shared;

void memory_expect_shared(Bool shared, UWord shm_id) {
  expect_shared = shared;
  expect_shm = shm_id;
}

static UInt object_number(ULong device, ULong inode, Bool anonymous) {
  if (!anonymous)
    for (UInt i = 0; i < objects_used; i++)
      if (objects[i].device == device && objects[i].inode == inode)
        return i + 1;
  if (objects_used == objects_size) {
    objects_size = objects_size * 2 + 16;
    objects = VG_(realloc)("chronicle.objects", objects,
                           objects_size * sizeof *objects);
  }
  objects[objects_used].device = anonymous ? ~0ull : device;
  objects[objects_used].inode = anonymous ? ~0ull : inode;
  return ++objects_used;
}

static void add_range(Addr start, Addr end, ULong offset, UInt object) {
  if (ranges_used == ranges_size) {
    ranges_size = ranges_size * 2 + 16;
    ranges = VG_(realloc)("chronicle.ranges", ranges,
                          ranges_size * sizeof *ranges);
  }
  SharedRange r = {start, end, offset, object};
  ranges[ranges_used++] = r;
}

static void forget_range(Addr start, Addr end) {
  writable_known = False;
  for (UInt i = 0; i < ranges_used;) {
    SharedRange r = ranges[i];
    if (r.end <= start || r.start >= end) {
      i++;
      continue;
    }
    ranges[i] = ranges[--ranges_used];
    if (r.start < start)
      add_range(r.start, start, r.offset, r.object);
    if (r.end > end)
      add_range(end, r.end, r.offset + (end - r.start), r.object);
  }
}

static const SharedRange *find_range(Addr address) {
  for (UInt i = 0; i < ranges_used; i++)
    if (ranges[i].start <= address && address < ranges[i].end)
      return &ranges[i];
  return NULL;
}

void memory_before_fork(void) {
  const Bool before = ask_kernel;
  ask_kernel = True; /* Valgrind has blocked all signals, those of faults, too */
  if (have_anonymous_shared)
    start_logging_loads(CH_LOADS_SHARED_MEMORY);
  ask_kernel = before;
}

/* ---- mappings ---- */

static UInt protection(Bool r, Bool w, Bool x) {
  return (r ? CH_PROT_READ : 0) | (w ? CH_PROT_WRITE : 0) |
         (x ? CH_PROT_EXEC : 0);
}

static void log_map(Addr start, Addr end, const NSegment *s, UInt flags,
                    UInt object, ULong offset) {
  const HChar *name = VG_(am_get_filename)(s);
  UInt length = name ? VG_(strlen)(name) : 0;
  struct ch_ev_map *e = event(CH_EV_MAP, sizeof *e + length);
  e->address = start;
  e->length = end - start;
  e->offset = offset;
  e->device = s->dev;
  e->inode = s->ino;
  e->protection = protection(s->hasR, s->hasW, s->hasX);
  e->flags = flags | (s->kind == SkFileC ? CH_MAP_FILE : 0) |
             (object ? CH_MAP_SHARED : 0);
  e->object = object;
  e->thread = thread_number(VG_(get_running_tid)());
  VG_(memcpy)(e + 1, name, length);
}

/* Logs what is mapped at [start, end): one map event a segment, then contents
   where they need not be zero. */
static void log_mapped(Addr start, Addr end, UInt flags, UInt source,
                       const SharedRange *moved) {
  marks_cover(end);
  forget_range(start, end);
  while (start < end) {
    const NSegment *s = VG_(am_find_nsegment)(start);
    tl_assert(s);
    Addr stop = s->end + 1 < end ? s->end + 1 : end;
    if (!(s->kind & SEGMENT_KINDS)) {
      start = stop;
      continue;
    }
    ULong offset = s->kind == SkFileC ? s->offset + (start - s->start) : 0;
    UInt object = 0;
    if (moved) {
      object = moved->object;
      offset = moved->offset;
    } else if (expect_shm)
      object = object_number(~0ull, expect_shm, False);
    else if (expect_shared) {
      object = object_number(s->dev, s->ino, s->kind != SkFileC);
      have_anonymous_shared |= s->kind != SkFileC;
    }
    log_map(start, stop, s, flags, object, offset);
    if (object) {
      add_range(start, stop, offset, object);
      /* Others may write it, unless it is only ours so far. */
      if ((s->kind == SkFileC && s->hasW) || s->kind == SkShmC)
        start_logging_loads(CH_LOADS_SHARED_MEMORY);
    }
    if (s->kind == SkFileC && s->hasW && s->hasX)
      VG_(clo_smc_check) = SMC_CHECK_ALL;
    if (s->kind != SkAnonC || source != CH_MEM_MAPPED || moved || object)
      memory_log(start, stop - start, source, VG_(get_running_tid)(), False);
    start = stop;
  }
}

static void new_mapping(Addr address, SizeT length, Bool r, Bool w, Bool x,
                        ULong debug_info) {
  if (recording && started && length)
    log_mapped(address, address + length, 0, CH_MEM_MAPPED, NULL);
}

static void moved_mapping(Addr from, Addr to, SizeT length) {
  if (!recording || !started)
    return;
  const SharedRange *old = find_range(from);
  SharedRange copy;
  if (old) {
    copy = *old;
    copy.offset += from - old->start;
    log_mapped(to, to + length, 0, CH_MEM_MAPPED, &copy);
  } else
    /* As a new mapping with contents. */
    log_mapped(to, to + length, 0, CH_MEM_SYSCALL, NULL);
}

static void log_range(UInt kind, Addr address, SizeT length, UInt prot) {
  struct ch_ev_range *e = event(kind, sizeof *e);
  e->address = address;
  e->length = length;
  e->protection = prot;
  e->thread = thread_number(VG_(get_running_tid)());
}

static void unmapped(Addr address, SizeT length) {
  if (!recording || !started || !length)
    return;
  forget_range(address, address + length);
  log_range(CH_EV_UNMAP, address, length, 0);
}

static void protected(Addr address, SizeT length, Bool r, Bool w, Bool x) {
  if (!recording || !started || !length)
    return;
  writable_known = False;
  log_range(CH_EV_PROTECT, address, length, protection(r, w, x));
  const NSegment *s = VG_(am_find_nsegment)(address);
  if (s && s->kind == SkFileC && x) {
    /* Self-checks of translations leave out mapped files; not if those can be
       written. Code that was patched while it was not executable is new. */
    if (w)
      VG_(clo_smc_check) = SMC_CHECK_ALL;
    VG_(discard_translations)(address, length, "chronicle");
  }
  if (s && w && find_range(address) && s->kind == SkFileC)
    start_logging_loads(CH_LOADS_SHARED_MEMORY);
}

/* The heap's limit moves by bytes; its last page is zero beyond the limit. */
static void brk_grew(Addr address, SizeT length, ThreadId tid) {
  Addr start = VG_PGROUNDUP(address), end = VG_PGROUNDUP(address + length);
  if (recording && started && start < end)
    log_mapped(start, end, CH_MAP_HEAP, CH_MEM_MAPPED, NULL);
}

static void brk_shrank(Addr address, SizeT length) {
  Addr start = VG_PGROUNDUP(address), end = VG_PGROUNDUP(address + length);
  if (!recording || !started || !length)
    return;
  if (start > address)
    memory_log(address, start - address, CH_MEM_SYSCALL,
               VG_(get_running_tid)(), True);
  if (start < end)
    unmapped(start, end - start);
}

void memory_stack_grew(Addr start, Addr end) {
  writable_known = False;
  if (stack_end != 0 && stack_start != end)
    memory_log_stack_growth();
  if (!stack_end)
    stack_end = end;
  stack_start = start;
}

void memory_log_stack_growth(void) {
  if (!stack_end)
    return;
  Addr start = stack_start, end = stack_end;
  stack_end = 0;
  log_mapped(start, end, CH_MAP_STACK, CH_MEM_MAPPED, NULL);
}

/* ---- what system calls under way may write ----
   While a thread is inside a blocking call the kernel may have filled its buffer
   already, and others run. The buffer's new contents belong to the end of the
   call: such memory is not audited, what the program stored there is told before
   the call, and what others store beside it is told without the kernel's bytes. */

typedef struct {
  ThreadId tid;
  Addr start, end;
  ULong first, last; /* the granules it begins and ends in, before the call */
} Target;
static Target *targets;
static UInt targets_used, targets_size;

static Addr granule_of(Addr address) { return address & ~7ull; }

static Bool granule_read(Addr address, ULong *granule) {
  return read_all(granule_of(address), granule, sizeof *granule);
}

void memory_call_will_write(ThreadId tid, Addr address, SizeT length) {
  if (!recording || !length)
    return;
  if (targets_used == targets_size) {
    targets_size = targets_size * 2 + 64;
    targets = VG_(realloc)("chronicle.targets", targets,
                           targets_size * sizeof *targets);
  }
  Target t = {tid, address, address + length, 0, 0};
  if (threads_alive > 1) {
    marks_tell_range(t.start, t.end);
    if ((t.start % 8 && !granule_read(t.start, &t.first)) ||
        (t.end % 8 && !granule_read(t.end - 1, &t.last)))
      return; /* a bad address: nothing will be written */
  }
  targets[targets_used++] = t;
}

static void core_will_write(CorePart part, ThreadId tid, const HChar *what,
                            Addr address, SizeT length) {
  if (part == Vg_CoreSysCall)
    memory_call_will_write(tid, address, length);
}

void memory_syscall_over(ThreadId tid) {
  for (UInt i = 0; i < targets_used;)
    if (targets[i].tid == tid)
      targets[i] = targets[--targets_used];
    else
      i++;
}

/* `now` with the bytes [from, to) of `before`. */
static ULong mixed(ULong now, ULong before, UInt from, UInt to) {
  VG_(memcpy)((UChar *)&now + from, (UChar *)&before + from, to - from);
  return now;
}

ULong memory_without_calls(Addr granule, ULong now) {
  for (const Target *t = targets; t < targets + targets_used; t++) {
    UInt from = t->start > granule ? t->start - granule : 0;
    UInt to = t->end - granule < 8 ? t->end - granule : 8;
    if (granule == granule_of(t->start) && from)
      now = mixed(now, t->first, from, to);
    else if (granule == granule_of(t->end - 1) && to < 8)
      now = mixed(now, t->last, from, to);
  }
  return now;
}

Bool memory_is_target(Addr start, Addr end) {
  for (UInt i = 0; i < targets_used; i++)
    if (targets[i].start < end && start < targets[i].end)
      return True;
  return False;
}

/* ---- what the core wrote ---- */

static void core_wrote(CorePart part, ThreadId tid, Addr address,
                       SizeT length) {
  /* Signal frames are logged whole (signals.c); the rest of the start-up image
     with the image. */
  if (!recording || !length || part == Vg_CoreSignal ||
      part == Vg_CoreStartup || !started)
    return;
  memory_log(address, length,
             part == Vg_CoreSysCall ? CH_MEM_SYSCALL : CH_MEM_CORE, tid, True);
  syscalls_memory_logged(tid, address, length);
}

static void core_wrote_register(CorePart part, ThreadId tid, PtrdiffT offset,
                                Addr address, SizeT length) {
  core_wrote(part, tid, address, length);
}

/* ---- start and audit ---- */

void memory_log_startup(void) {
  Addr sp = VG_(get_SP)(1);
  memory_expect_shared(False, 0);
  for (const NSegment *s = next_segment(0); s; s = next_segment(s->end + 1)) {
    Bool stack = s->start <= sp && sp <= s->end;
    log_mapped(s->start, s->end + 1,
               CH_MAP_STARTUP | (stack ? CH_MAP_STACK : 0), CH_MEM_STARTUP,
               NULL);
  }
  block_must_end = True;
}

/* `readable`: as far as Valgrind knows. */
static void audit(Addr address, SizeT length, Bool readable) {
  if (memory_is_target(address, address + length))
    return;
  struct ch_ev_range *e = event(CH_EV_AUDIT, sizeof *e + length);
  SizeT got = length;
  if (!readable || !memory_copy(address, (UChar *)(e + 1), length))
    got = read_some(address, e + 1, length);
  e->address = address;
  e->length = got;
  event_shrink(e, sizeof *e + got);
}

void memory_audit_some(void) {
  static Addr next;
  const NSegment *s = VG_(am_find_nsegment)(next);
  Bool wrapped = False;
  while (!s || !(s->kind & SEGMENT_KINDS) || !s->hasW) {
    s = next_segment(s ? s->end + 1 : next);
    if (!s) {
      if (wrapped)
        return;
      wrapped = True;
      s = next_segment(0);
    }
    next = s ? s->start : 0;
  }
  audit(next, VKI_PAGE_SIZE, s->hasR);
  next += VKI_PAGE_SIZE;
}

void memory_find_existing(Addr address, UInt count, Bool *exists) {
  static Int pagemap = -1;
  ULong entries[MEMORY_EXISTING_MOST];
  SizeT size = count * sizeof *entries;
  if (pagemap < 0) {
    SysRes r = VG_(open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
    if (!sr_isError(r))
      pagemap = VG_(safe_fd)(sr_Res(r));
  }
  SysRes r = VG_(do_syscall)(__NR_pread64, pagemap, (UWord)entries, size,
                             address / VKI_PAGE_SIZE * sizeof *entries, 0, 0, 0,
                             0);
  Bool known = !sr_isError(r) && sr_Res(r) == size;
  for (UInt i = 0; i < count; i++)
    exists[i] = !known || entries[i] >> 62; /* present or swapped out */
}

CH_STATIC_ASSERT(CH_MEMORY_RECORD_BYTES <= MEMORY_EXISTING_MOST * VKI_PAGE_SIZE,
                 "pages of a record");

void memory_audit_all(void) {
  SizeT left = AUDIT_LIMIT;
  for (const NSegment *s = next_segment(0); s && left;
       s = next_segment(s->end + 1)) {
    if (!s->hasW)
      continue;
    for (Addr at = s->start; at <= s->end && left;) {
      Bool exists[CH_MEMORY_RECORD_BYTES / VKI_PAGE_SIZE];
      SizeT n = s->end + 1 - at;
      if (n > CH_MEMORY_RECORD_BYTES)
        n = CH_MEMORY_RECORD_BYTES;
      if (n > left)
        n = left;
      UInt pages = n / VKI_PAGE_SIZE;
      memory_find_existing(at, pages, exists);
      for (UInt i = 0; i < pages;) {
        UInt first = i;
        while (i < pages && exists[i] == exists[first])
          i++;
        if (exists[first])
          audit(at + first * VKI_PAGE_SIZE, (i - first) * VKI_PAGE_SIZE, False);
      }
      at += n;
      left -= n;
    }
  }
}

void memory_init(void) {
  SysRes r = VG_(open)("/proc/self/mem", VKI_O_RDONLY, 0);
  if (sr_isError(r))
    give_up("cannot open /proc/self/mem: is /proc mounted?");
  memory_fd = VG_(safe_fd)(sr_Res(r));
  VG_(track_new_mem_mmap)(new_mapping);
  VG_(track_change_mem_mprotect)(protected);
  VG_(track_die_mem_munmap)(unmapped);
  VG_(track_copy_mem_remap)(moved_mapping);
  VG_(track_new_mem_brk)(brk_grew);
  VG_(track_die_mem_brk)(brk_shrank);
  VG_(track_pre_mem_write)(core_will_write);
  VG_(track_post_mem_write)(core_wrote);
  VG_(track_copy_reg_to_mem)(core_wrote_register);
}
