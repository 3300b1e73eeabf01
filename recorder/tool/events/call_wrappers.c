/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers around Valgrind's wrappers of single system calls, for what must be
 * different in a recording. CMakeLists.txt names them to the linker.
 */
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/memory/emptied_pages.h"

/* Valgrind's SfMayBlock: other threads may run meanwhile. */
#define MAY_BLOCK 2
#define MCL_ONFAULT 4

/* Valgrind's SyscallArgs. */
struct arguments {
  Word number;
  UWord values[8];
};

extern void __real_vgSysWrap_generic_sys_mlockall_before(ThreadId tid,
                                                         void *layout,
                                                         struct arguments *args,
                                                         void *status,
                                                         UWord *flags);
/* Locking all memory would make all of the reserved maps of marks exist, which
   are larger than any computer's memory. Pages are locked as they come into
   use instead. */
void __wrap_vgSysWrap_generic_sys_mlockall_before(ThreadId tid, void *layout,
                                                  struct arguments *args,
                                                  void *status, UWord *flags) {
  __real_vgSysWrap_generic_sys_mlockall_before(tid, layout, args, status,
                                               flags);
  args->values[0] |= MCL_ONFAULT;
  /* Valgrind leaves the changed argument in the program's registers only if the
     call may block. */
  *flags &= ~(UWord)MAY_BLOCK;
}

extern void __real_vgSysWrap_generic_sys_madvise_before(ThreadId tid,
                                                        void *layout,
                                                        struct arguments *args,
                                                        void *status,
                                                        UWord *flags);
/* No other thread may see that pages have become empty before that is
   logged. */
void __wrap_vgSysWrap_generic_sys_madvise_before(ThreadId tid, void *layout,
                                                 struct arguments *args,
                                                 void *status, UWord *flags) {
  __real_vgSysWrap_generic_sys_madvise_before(tid, layout, args, status, flags);
  if (ch_advice_empties(args->values[2]))
    *flags &= ~(UWord)MAY_BLOCK;
}

extern void __real_vgSysWrap_linux_sys_futex_before(ThreadId tid, void *layout,
                                                    struct arguments *args,
                                                    void *status, UWord *flags);
/* These operations do not block, but they write a word that other threads read.
   So no other thread may run before what they wrote is logged. */
void __wrap_vgSysWrap_linux_sys_futex_before(ThreadId tid, void *layout,
                                             struct arguments *args,
                                             void *status, UWord *flags) {
  __real_vgSysWrap_linux_sys_futex_before(tid, layout, args, status, flags);
  switch (args->values[1] & CH_FUTEX_COMMAND) {
  case VKI_FUTEX_WAKE_OP:
  case VKI_FUTEX_UNLOCK_PI:
  case VKI_FUTEX_TRYLOCK_PI:
  case VKI_FUTEX_CMP_REQUEUE_PI:
    *flags &= ~(UWord)MAY_BLOCK;
    break;
  default:
    break;
  }
}
