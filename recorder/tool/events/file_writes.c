/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/file_writes.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/audit.h"
#include "recorder/tool/memory/contents.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/memory/reading.h"
#include "recorder/tool/memory/segments.h"
#include "recorder/tool/stream/ring.h"

#define FALLOC_FL_COLLAPSE_RANGE 8
#define FALLOC_FL_INSERT_RANGE 32
#define RWF_APPEND 16
#define FICLONE 0x40049409
#define FICLONERANGE 0x4020940d
#define FILE_END (~0ull >> 1)

/* Where a call changes its file. */
enum place {
  PLACE_NONE,     /* nowhere: the call changes no file */
  PLACE_POSITION, /* from the descriptor's position on, as many bytes as the
                     call returns */
  PLACE_OFFSET,   /* from an offset on, as many bytes as the call returns */
  PLACE_RANGE,    /* a range that the arguments give */
  PLACE_LENGTH,   /* at its end: the call sets the file's length */
  PLACE_MOVED,    /* from an offset on everything moves, and nothing is left of
                     what the program stored to private mappings there */
};

struct change {
  enum place place;
  Int fd;            /* of the file; -1: it is known by its path, or only after
                        the call */
  const HChar *path; /* or NULL */
  ULong offset, length;
  Bool appends;
};

/* What a call under way may change, and the file before the call. */
struct call {
  struct change change;
  Bool mapped; /* the program maps the file */
  Bool memory; /* the file is the program's own memory */
  ULong device, inode;
  ULong size, position;
};
static CH_GROWING_ARRAY(struct call) calls; /* by thread id */

/* ---- what a call changes ---- */

static struct change at_position(Int fd) {
  struct change c = {PLACE_POSITION, fd, NULL, 0, 0, False};
  return c;
}

static struct change at_offset(Int fd, ULong offset) {
  struct change c = {PLACE_OFFSET, fd, NULL, offset, 0, False};
  return c;
}

static struct change of_range(Int fd, ULong offset, ULong length) {
  struct change c = {PLACE_RANGE, fd, NULL, offset, length, False};
  return c;
}

static struct change of_length(Int fd, const HChar *path) {
  struct change c = {PLACE_LENGTH, fd, path, 0, 0, False};
  return c;
}

/* For calls that take a pointer to an offset, which may be NULL. */
static struct change at_pointer(Int fd, Addr offset) {
  ULong value;
  return offset && ch_memory_read(offset, &value, sizeof value) == sizeof value
             ? at_offset(fd, value)
             : at_position(fd);
}

static struct change of_opening(Bool truncates) {
  struct change none = {PLACE_NONE, -1, NULL, 0, 0, False};
  return truncates ? of_length(-1, NULL) : none;
}

static struct change of_fallocate(const UWord *args) {
  struct change c = of_range(args[0], args[2], args[3]);
  if (args[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
    c.place = PLACE_MOVED;
  return c;
}

static struct change change_of(UInt number, const UWord *args) {
  struct change c = {PLACE_NONE, -1, NULL, 0, 0, False};
  switch (number) {
  case __NR_write:
  case __NR_writev:
  case __NR_sendfile:
    return at_position(args[0]);
  case __NR_pwrite64:
  case __NR_pwritev:
    return at_offset(args[0], args[3]);
  case __NR_pwritev2:
    c = (Long)args[3] == -1 ? at_position(args[0])
                            : at_offset(args[0], args[3]);
    c.appends = (args[5] & RWF_APPEND) != 0;
    return c;
  case __NR_copy_file_range:
  case __NR_splice:
    return at_pointer(args[2], args[3]);
  case __NR_fallocate:
    return of_fallocate(args);
  case __NR_ioctl:
    return (UInt)args[1] == FICLONE || (UInt)args[1] == FICLONERANGE
               ? of_range(args[0], 0, FILE_END)
               : c;
  case __NR_ftruncate:
    return of_length(args[0], NULL);
  case __NR_truncate:
    return of_length(-1, (const HChar *)args[0]);
  case __NR_creat:
    return of_opening(True);
  case __NR_open:
    return of_opening((args[1] & VKI_O_TRUNC) != 0);
  case __NR_openat:
    return of_opening((args[2] & VKI_O_TRUNC) != 0);
  default:
    return c;
  }
}

/* ---- the file ---- */

static Bool look_at(const struct change *c, struct vg_stat *file) {
  const Bool found = c->fd >= 0 ? VG_(fstat)(c->fd, file) == 0
                     : c->path  ? !sr_isError(VG_(stat)(c->path, file))
                                : False;
  return found && VKI_S_ISREG(file->mode); /* other files have no length */
}

static Bool is_mapped(ULong device, ULong inode) {
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++)
    if (ranges[i].device == device && ranges[i].inode == inode)
      return True;
  return False;
}

/* Whether the descriptor is of /proc/self/mem, under whatever name. */
static Bool is_own_memory(Int fd, ULong device) {
  static ULong proc; /* the device of /proc */
  struct vg_stat mem;
  if (!proc && !sr_isError(VG_(stat)("/proc/self/mem", &mem)))
    proc = mem.dev;
  if (!proc || device != proc)
    return False;
  HChar link[64], name[64], own[32];
  VG_(sprintf)(link, "/proc/self/fd/%d", fd);
  SSizeT length = VG_(readlink)(link, name, sizeof name - 1);
  if (length < 4)
    return False;
  name[length] = 0;
  VG_(sprintf)(own, "/proc/%d/", VG_(getpid)());
  return VG_(strncmp)(name, own, VG_(strlen)(own)) == 0 &&
         VG_(strcmp)(name + length - 4, "/mem") == 0;
}

/* ---- before the call ---- */

void ch_file_writes_before(ThreadId tid, UInt number, const UWord *args) {
  ch_array_reserve(&calls, tid + 1);
  struct call *call = &calls.items[tid];
  VG_(memset)(call, 0, sizeof *call);
  struct change c = change_of(number, args);
  if (c.place == PLACE_NONE)
    return;
  call->change = c;
  /* What the program stored to pages that the call takes away cannot be read
     afterwards. */
  if (c.place == PLACE_LENGTH || c.place == PLACE_MOVED)
    ch_marks_send_all();
  struct vg_stat file;
  if (!look_at(&c, &file))
    return;
  call->device = file.dev;
  call->inode = file.ino;
  call->size = file.size;
  call->mapped = is_mapped(file.dev, file.ino);
  call->memory = c.fd >= 0 && is_own_memory(c.fd, file.dev);
  if (!call->mapped && !call->memory)
    return;
  if (c.fd >= 0 && (VG_(fcntl)(c.fd, VKI_F_GETFL, 0) & VKI_O_APPEND))
    call->change.appends = True;
  if (c.place == PLACE_POSITION)
    call->position = VG_(lseek)(c.fd, 0, VKI_SEEK_CUR);
}

/* ---- after the call ---- */

/* Logs [start, end) of a private mapping without the pages that the program has
   a copy of, because these do not follow the file. */
static void log_uncopied(Addr start, Addr end, ThreadId tid) {
  for (Addr at = VG_PGROUNDDN(start); at < end;) {
    Bool copied[CH_MOST_PAGES_TO_FIND];
    UInt count = (VG_PGROUNDUP(end) - at) / VKI_PAGE_SIZE;
    if (count > CH_MOST_PAGES_TO_FIND)
      count = CH_MOST_PAGES_TO_FIND;
    ch_find_copied_pages(at, count, copied);
    for (UInt i = 0; i < count;) {
      const UInt first = i;
      while (i < count && copied[i] == copied[first])
        i++;
      Addr from = at + first * VKI_PAGE_SIZE, to = at + i * VKI_PAGE_SIZE;
      from = from < start ? start : from;
      to = to > end ? end : to;
      if (!copied[first])
        ch_contents_log(from, to - from, CH_MEM_SYSCALL, tid, False);
    }
    at += count * VKI_PAGE_SIZE;
  }
}

/* Bytes [from, to) of the file may have changed. */
static void log_mapped(const struct call *call, ULong from, ULong to,
                       ThreadId tid) {
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++) {
    const struct ch_file_range r = ranges[i];
    const ULong end = r.offset + (r.end - r.start); /* in the file */
    if (r.device != call->device || r.inode != call->inode || from >= end ||
        to <= r.offset)
      continue;
    const Addr first = r.start + (from > r.offset ? from - r.offset : 0);
    const Addr last = to < end ? r.start + (to - r.offset) : r.end;
    if (call->change.place == PLACE_MOVED)
      ch_contents_log(first, last - first, CH_MEM_SYSCALL, tid, False);
    else
      log_uncopied(first, last, tid);
  }
}

/* The file has `size` bytes now. Beyond its last page nothing is left of what
   mappings of it held, not even of what the program stored to private ones. */
static void log_shorter(const struct call *call, ULong size, ThreadId tid) {
  const ULong kept = VG_PGROUNDUP(size);
  UInt count;
  const struct ch_file_range *ranges = ch_file_ranges(&count);
  for (UInt i = 0; i < count; i++) {
    const struct ch_file_range r = ranges[i];
    if (r.device != call->device || r.inode != call->inode)
      continue;
    const Addr gone = r.start + (kept > r.offset ? kept - r.offset : 0);
    if (gone < r.end)
      ch_contents_log_zeros(gone, r.end, CH_MEM_SYSCALL, tid);
  }
}

/* What the file system leaves behind the end of the file, in the page that the
   shorter of both lengths ends in, changes with the length. Further on there
   are zeros. */
static void log_length(const struct call *call, ULong size, ThreadId tid) {
  const ULong shorter = size < call->size ? size : call->size;
  if (size != call->size)
    log_mapped(call, shorter, VG_PGROUNDUP(shorter), tid);
  if (size < call->size || call->change.place == PLACE_LENGTH)
    log_shorter(call, size, tid);
}

/* The range of the file that the call may have written. Other threads may have
   used the same position meanwhile: the range then covers what they wrote. */
static void find_written(const struct call *call, ULong size, ULong written,
                         ULong *from, ULong *to) {
  const struct change *c = &call->change;
  *from = c->offset;
  *to = c->offset + written;
  if (c->place == PLACE_RANGE)
    *to = c->length > FILE_END - c->offset ? FILE_END : c->offset + c->length;
  else if (c->place == PLACE_MOVED)
    *to = FILE_END;
  else if (c->appends) {
    *from = call->size;
    *to = size;
  } else if (c->place == PLACE_POSITION) {
    const ULong now = VG_(lseek)(c->fd, 0, VKI_SEEK_CUR);
    const ULong begun = now > written ? now - written : 0;
    *from = call->position < begun ? call->position : begun;
    *to = call->position + written > now ? call->position + written : now;
  }
}

/* The program wrote its own memory as a file. */
static void log_own_memory(ULong from, ULong to, ThreadId tid) {
  ch_contents_log(from, to - from, CH_MEM_SYSCALL, tid, False);
  VG_(discard_translations)(from, to - from, "chronicle");
}

void ch_file_writes_after(ThreadId tid, UInt number, const UWord *args,
                          SysRes result) {
  struct call call = calls.items[tid];
  struct change *c = &call.change;
  calls.items[tid].change.place = PLACE_NONE;
  if (c->place == PLACE_NONE)
    return;
  const Bool opened = c->place == PLACE_LENGTH && c->fd < 0 && !c->path;
  if (opened && sr_isError(result))
    return;
  if (opened)
    c->fd = sr_Res(result);
  else if (!call.mapped && !call.memory)
    return;
  struct vg_stat file;
  if (!look_at(c, &file)) /* another thread has closed it */
    return;
  if (opened) {
    call.device = file.dev;
    call.inode = file.ino;
  }
  if (c->place == PLACE_LENGTH && sr_isError(result))
    return;
  ULong from = 0, to = 0;
  if (c->place != PLACE_LENGTH)
    find_written(&call, file.size, sr_isError(result) ? 0 : sr_Res(result),
                 &from, &to);
  if (call.memory)
    log_own_memory(from, to, tid);
  else {
    if (from < to)
      log_mapped(&call, from, to, tid);
    log_length(&call, file.size, tid);
    ch_audit_accept_file(&file);
  }
  ch_event_commit();
}
