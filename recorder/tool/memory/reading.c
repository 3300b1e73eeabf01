/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/memory/reading.h"
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_signals.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/stream/recording.h"

static Int memory_fd = -1, pagemap_fd = -1;
static Bool through_kernel;
static VG_MINIMAL_JMP_BUF(before_fault);

/* Returns -1 if it cannot be opened. */
static Int open_own(const HChar *path) {
  SysRes r = VG_(open)(path, VKI_O_RDONLY, 0);
  return sr_isError(r) ? -1 : VG_(safe_fd)(sr_Res(r));
}

void ch_reading_init(void) {
  memory_fd = open_own("/proc/self/mem");
  if (memory_fd < 0)
    ch_give_up("cannot open /proc/self/mem: is /proc mounted?");
}

Bool ch_reading_in_child(void) {
  VG_(close)(memory_fd);
  if (pagemap_fd >= 0)
    VG_(close)(pagemap_fd);
  pagemap_fd = -1;
  memory_fd = open_own("/proc/self/mem");
  return memory_fd >= 0;
}

SizeT ch_memory_read(Addr address, void *to, SizeT length) {
  return ch_pread(memory_fd, to, length, address);
}

Bool ch_read_through_kernel(Bool on) {
  const Bool before = through_kernel;
  through_kernel = on;
  return before;
}

static void read_faulted(Int signal, Addr address) {
  VG_MINIMAL_LONGJMP(before_fault);
}

/* The jump left Valgrind's signal handler, in which all signals are blocked and
   the kernel has reset the FPU. This restores what Valgrind expects outside of
   it: the signals of faults are not blocked, and the FPU has Valgrind's
   settings. */
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

Bool ch_memory_copy(Addr address, void *to, SizeT length) {
  if (through_kernel)
    return ch_memory_read(address, to, length) == length;
  const Bool in_client_code = VG_(in_generated_code);
  volatile Bool copied = False;
  /* Valgrind calls a fault catcher only for faults outside of client code. */
  VG_(in_generated_code) = False;
  fault_catcher_t old = VG_(set_fault_catcher)(read_faulted);
  if (VG_MINIMAL_SETJMP(before_fault) == 0) {
    VG_(memcpy)(to, (void *)address, length);
    copied = True;
  } else
    leave_handler();
  VG_(set_fault_catcher)(old);
  VG_(in_generated_code) = in_client_code;
  return copied;
}

/* The descriptor of /proc/self/pagemap. */
static Int pagemap(void) {
  if (pagemap_fd < 0)
    pagemap_fd = open_own("/proc/self/pagemap");
  return pagemap_fd;
}

/* Reads the kernel's word about each page: bit 63 says that it is present, bit
   62 that it is swapped out, bit 61 that it belongs to a file or is shared. */
static Bool read_pagemap(Addr address, UInt count, ULong *entries) {
  const SizeT size = count * sizeof *entries;
  return ch_pread(pagemap(), entries, size,
                  address / VKI_PAGE_SIZE * sizeof *entries) == size;
}

void ch_find_existing_pages(Addr address, UInt count, Bool *exists) {
  ULong entries[CH_MOST_PAGES_TO_FIND];
  const Bool known = read_pagemap(address, count, entries);
  for (UInt i = 0; i < count; i++)
    exists[i] = !known || entries[i] >> 62;
}

void ch_find_copied_pages(Addr address, UInt count, Bool *copied) {
  ULong entries[CH_MOST_PAGES_TO_FIND];
  const Bool known = read_pagemap(address, count, entries);
  for (UInt i = 0; i < count; i++)
    copied[i] = known && entries[i] >> 62 && !(entries[i] >> 61 & 1);
}

Addr ch_next_existing_page(Addr start, Addr end) {
  enum { SCAN = 0xc0606610, IS_PRESENT = 1 << 3, IS_SWAPPED = 1 << 4 };
  ULong region[3]; /* start, end, what it is */
  struct {
    ULong size, flags, start, end, walked_to, regions, region_count, most_pages,
        inverted, all_of, any_of, wanted;
  } scan = {sizeof scan,
            0,
            start,
            end,
            0,
            (ULong)region,
            1,
            0,
            0,
            0,
            IS_PRESENT | IS_SWAPPED,
            IS_PRESENT | IS_SWAPPED};
  SysRes r =
      VG_(do_syscall)(__NR_ioctl, pagemap(), SCAN, (UWord)&scan, 0, 0, 0, 0, 0);
  return sr_isError(r) ? start : sr_Res(r) ? region[0] : end;
}
