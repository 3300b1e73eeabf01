/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/core/kernel.h"

#define FUTEX_WAIT 0
#define FUTEX_WAKE 1

SizeT ch_pread(Int fd, void *to, SizeT length, ULong offset) {
  SysRes r =
      VG_(do_syscall)(__NR_pread64, fd, (UWord)to, length, offset, 0, 0, 0, 0);
  return sr_isError(r) ? 0 : sr_Res(r);
}

static void futex(UInt *word, UInt operation, UInt value) {
  VG_(do_syscall)(__NR_futex, (UWord)word, operation, value, 0, 0, 0, 0, 0);
}

void ch_futex_wait(UInt *word, UInt value) { futex(word, FUTEX_WAIT, value); }

void ch_futex_wake(UInt *word) { futex(word, FUTEX_WAKE, 1); }
