/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers around Valgrind's wrappers of single system calls, for what must be
 * different in a recording. CMakeLists.txt names them to the linker.
 */
#include "recorder/tool/chaos/calls.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/memory/emptied_pages.h"

#define MCL_ONFAULT 4
#define F_OFD_SETLKW 38

/* Locking all memory would make all of the reserved maps of marks exist, which
   are larger than any computer's memory. Pages are locked as they come into
   use instead. */
CH_BEFORE_CALL(generic_sys_mlockall) {
  CH_REAL_CALL(generic_sys_mlockall);
  call->arguments[0] |= MCL_ONFAULT;
  /* Valgrind leaves the changed argument in the program's registers only if the
     call may block. */
  *flags &= ~(UWord)CH_MAY_BLOCK;
}

/* No other thread may see that pages have become empty before that is
   logged. */
CH_BEFORE_CALL(generic_sys_madvise) {
  CH_REAL_CALL(generic_sys_madvise);
  if (ch_advice_empties(call->arguments[2]))
    *flags &= ~(UWord)CH_MAY_BLOCK;
}

/* These operations do not block, but they write a word that other threads read.
   So no other thread may run before what they wrote is logged. */
CH_BEFORE_CALL(linux_sys_futex) {
  CH_REAL_CALL(linux_sys_futex);
  ch_chaos_before_futex(tid, call, status, flags);
  switch (call->arguments[1] & CH_FUTEX_COMMAND) {
  case VKI_FUTEX_WAKE_OP:
  case VKI_FUTEX_UNLOCK_PI:
  case VKI_FUTEX_TRYLOCK_PI:
  case VKI_FUTEX_CMP_REQUEUE_PI:
    *flags &= ~(UWord)CH_MAY_BLOCK;
    break;
  default:
    break;
  }
}

/* Valgrind takes a wait for a lock of an open file not to block, so that the
   thread that holds the lock could never release it. */
CH_BEFORE_CALL(linux_sys_fcntl) {
  CH_REAL_CALL(linux_sys_fcntl);
  if (call->arguments[1] == F_OFD_SETLKW)
    *flags |= CH_MAY_BLOCK;
}
