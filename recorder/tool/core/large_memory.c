/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Huge pages for the large tables of Valgrind's core: its threads, its table of
 * translations and the translated code. The core clears most of the tables when
 * it starts; page by page that takes longer than all else that it does. And
 * code that lies in few pages is found faster. CMakeLists.txt wraps the
 * function.
 */
#include "recorder/tool/core/valgrind_core.h"

#define HUGE_PAGE (2u << 20)
#define MADV_HUGEPAGE 14

extern SysRes __real_vgPlain_am_mmap_anon_float_valgrind(SizeT length);
SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT length);

SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT length) {
  SysRes mapped = __real_vgPlain_am_mmap_anon_float_valgrind(length);
  /* A kernel without huge pages refuses, which does no harm. */
  if (!sr_isError(mapped) && length >= 2 * HUGE_PAGE)
    VG_(do_syscall)(__NR_madvise, sr_Res(mapped), length, MADV_HUGEPAGE, 0, 0,
                    0, 0, 0);
  return mapped;
}
