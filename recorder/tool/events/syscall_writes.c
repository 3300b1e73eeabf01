/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/events/syscall_writes.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/memory/call_targets.h"
#include "recorder/tool/memory/reading.h"

#define ARGUMENTS 6
/* Bytes behind each argument that are compared after the call, whatever is
   known about it: enough for any structure, not for any buffer. */
#define WINDOW 512
#define IOCTL_WINDOW 4096
/* How many words of a structure may be pointers. */
#define MOST_NESTED 32

#define IP_TABLES_REPLACE 64 /* setsockopt: IPT_SO_SET_REPLACE and its like */
#define SO_GET_FILTER 26
#define SOL_TCP 6
#define TCP_ZEROCOPY_RECEIVE 35
#define FS_IOC_FIEMAP 0xc020660bu
#define PR_GET_AUXV 0x41555856
#define PR_SCHED_CORE 62

static ThreadId caller; /* whose call is looked at */

static void target(Addr address, SizeT length, enum ch_target_kind kind) {
  if (address && length)
    ch_call_targets_add(caller, address, address + length, kind);
}
static void written(Addr address, SizeT length) {
  target(address, length, CH_TARGET_WRITTEN);
}
static void maybe(Addr address, SizeT length) {
  target(address, length, CH_TARGET_MAYBE);
}

/* Reads a structure of the program's. Returns False if it cannot be read. */
static Bool fetch(Addr address, void *to, SizeT length) {
  return address && ch_memory_copy(address, to, length);
}

/* ---- calls whose targets depend on more than an argument ---- */

static void select_writes(const UWord *args) {
  const Int count = args[0];
  if (count > 0)
    for (UInt i = 1; i <= 3; i++)
      written(args[i], VG_ROUNDUP((SizeT)count, 64) / 8);
  maybe(args[4], sizeof(struct vki_timespec)); /* the time that remains */
}

static void recvmsg_writes(const UWord *args) {
  const struct vki_msghdr *at = (const struct vki_msghdr *)args[1];
  struct vki_msghdr m;
  if (!fetch(args[1], &m, sizeof m))
    return;
  if (m.msg_name)
    written((Addr)&at->msg_namelen, sizeof at->msg_namelen);
  written((Addr)&at->msg_controllen, sizeof at->msg_controllen);
  written((Addr)&at->msg_flags, sizeof at->msg_flags);
}

static void getsockopt_writes(const UWord *args) {
  UInt length = 0;
  maybe(args[4], sizeof length);
  fetch(args[4], &length, sizeof length);
  if (args[1] == VKI_SOL_SOCKET && args[2] == SO_GET_FILTER)
    maybe(args[3], length * 8ul); /* the length counts instructions */
  if (args[1] == SOL_TCP && args[2] == TCP_ZEROCOPY_RECEIVE) {
    struct {
      ULong address;
      UInt length, skip, queued, error;
      ULong copy_address;
      UInt copy_length;
    } z;
    if (fetch(args[3], &z, sizeof z)) {
      maybe(z.address, z.length);
      maybe(z.copy_address, z.copy_length);
    }
  }
}

/* Replacing a table of netfilter gives back the counters of the old one. */
static void setsockopt_writes(const UWord *args) {
  struct {
    HChar name[32];
    UInt hooks, entries, size, hook_entry[5], underflow[5], count;
    ULong counters;
  } table;
  if (args[2] == IP_TABLES_REPLACE && args[4] >= sizeof table &&
      fetch(args[3], &table, sizeof table))
    maybe(table.counters, table.count * 16ul);
}

static void fcntl_writes(const UWord *args) {
  if (args[1] == VKI_F_GETLK || args[1] == VKI_F_OFD_GETLK)
    written(args[2], sizeof(struct vki_flock));
}

static void prctl_writes(const UWord *args) {
  switch (args[0]) {
  case VKI_PR_GET_TSC:
  case VKI_PR_GET_CHILD_SUBREAPER:
    maybe(args[1], sizeof(Int));
    break;
  case VKI_PR_GET_TID_ADDRESS:
    maybe(args[1], sizeof(Addr));
    break;
  case PR_GET_AUXV:
    maybe(args[1], args[2]);
    break;
  case PR_SCHED_CORE:
    maybe(args[4], sizeof(ULong));
    break;
  default:
    break;
  }
}

static void keyctl_writes(const UWord *args) {
  enum {
    DESCRIBE = 6,
    READ = 11,
    GET_SECURITY = 17,
    DH_COMPUTE = 23,
    PKEY_QUERY = 24,
    PKEY_ENCRYPT = 25,
    PKEY_SIGN = 27,
    CAPABILITIES = 31
  };
  UInt sizes[3];
  switch (args[0]) {
  case DESCRIBE:
  case READ:
  case GET_SECURITY:
  case DH_COMPUTE:
    maybe(args[2], args[3]);
    break;
  case CAPABILITIES:
    maybe(args[1], args[2]);
    break;
  case PKEY_QUERY:
    maybe(args[4], 48);
    break;
  default:
    if (args[0] >= PKEY_ENCRYPT && args[0] <= PKEY_SIGN &&
        fetch(args[1], sizes, sizeof sizes))
      maybe(args[4], sizes[2]);
  }
}

static void ioctl_writes(const UWord *args) {
  UInt extents;
  if ((UInt)args[1] == FS_IOC_FIEMAP &&
      fetch(args[2] + 24, &extents, sizeof extents))
    maybe(args[2], 32 + extents * 56ul);
}

static void io_submit_writes(const UWord *args) {
  for (UWord i = 0; i < args[1]; i++) {
    Addr request;
    if (!fetch(args[2] + i * sizeof request, &request, sizeof request))
      return;
    if (request)
      maybe(request + offsetof(struct vki_iocb, aio_key), sizeof(UInt));
  }
}

extern ThreadId VG_(lwpid_to_vgtid)(Int lwpid);

static void process_vm_writev_writes(const UWord *args) {
  if ((Int)args[0] != VG_(getpid)() &&
      VG_(lwpid_to_vgtid)(args[0]) == VG_INVALID_THREADID)
    return;
  for (UWord i = 0; i < args[4]; i++) {
    struct vki_iovec part;
    if (!fetch(args[3] + i * sizeof part, &part, sizeof part))
      return;
    maybe((Addr)part.iov_base, part.iov_len);
  }
}

static void futex_writes(const UWord *args) {
  switch (args[1] & CH_FUTEX_COMMAND) {
  case VKI_FUTEX_WAKE_OP:
    written(args[4], sizeof(UInt));
    break;
  case VKI_FUTEX_WAIT_REQUEUE_PI:
  case VKI_FUTEX_CMP_REQUEUE_PI:
    maybe(args[4], sizeof(UInt));
    break;
  case VKI_FUTEX_LOCK_PI:
  case VKI_FUTEX_UNLOCK_PI:
  case VKI_FUTEX_TRYLOCK_PI:
    maybe(args[0], sizeof(UInt));
    break;
  default:
    break;
  }
}

/* ---- what nothing is known about ---- */

/* The memory behind a pointer is compared as well. */
static Bool window(Addr start, SizeT most) {
  const NSegment *s =
      start >= VKI_PAGE_SIZE ? VG_(am_find_nsegment)(start) : NULL;
  if (!s || (s->kind != SkAnonC && s->kind != SkFileC) || !s->hasR || !s->hasW)
    return False;
  const SizeT length = s->end + 1 - start;
  target(start, length < most ? length : most, CH_TARGET_WINDOW);
  return True;
}

static void nested_windows(Addr structure) {
  Addr words[MOST_NESTED];
  SizeT count = MOST_NESTED;
  const Addr page_end = VG_PGROUNDDN(structure) + VKI_PAGE_SIZE;
  if (structure + sizeof words > page_end)
    count = (page_end - structure) / sizeof *words;
  if (structure % sizeof *words || !fetch(structure, words, count * 8))
    return;
  for (SizeT i = 0; i < count; i++)
    window(words[i], WINDOW);
}

/* ---- the table ---- */

/* Returns False if the call writes nothing. */
static Bool add_known(UInt number, const UWord *args, Bool *nested) {
  switch (number) {
#define NOTHING(call)                                                          \
  case __NR_##call:                                                            \
    return False;
#define REFUSED(call)
#define REPORTED(call)
#define WRITES(call, what)                                                     \
  case __NR_##call: {                                                          \
    what                                                                       \
  } break;
#define WRITTEN(n, bytes) written(args[n], bytes);
#define MAYBE(n, bytes) maybe(args[n], bytes);
#define IF(n, what)                                                            \
  if (args[n]) {                                                               \
    what                                                                       \
  }
#define BY(function) function##_writes(args);
#define NESTED *nested = True;
#include "recorder/tool/events/syscall_writes.def"
  default:
    break;
  }
  return True;
}

void ch_syscall_will_write(ThreadId tid, UInt number, const UWord *args) {
  Bool nested = False;
  caller = tid;
  if (!add_known(number, args, &nested) || number == __NR_futex)
    return;
  for (UInt i = 0; i < ARGUMENTS; i++)
    if (window(args[i], nested ? IOCTL_WINDOW : WINDOW) && nested)
      nested_windows(args[i]);
}
