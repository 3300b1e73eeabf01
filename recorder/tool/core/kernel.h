/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that the tool makes for itself. */
#ifndef CHRONICLE_RECORDER_TOOL_CORE_KERNEL_H
#define CHRONICLE_RECORDER_TOOL_CORE_KERNEL_H

#include "recorder/tool/core/valgrind_core.h"

/* Returns how many bytes were read, 0 on failure. */
SizeT ch_pread(Int fd, void *to, SizeT length, ULong offset);

/* The bits of a futex operation that say what to do. */
#define CH_FUTEX_COMMAND                                                       \
  ~(UInt)(VKI_FUTEX_PRIVATE_FLAG | VKI_FUTEX_CLOCK_REALTIME)
/* Sleeps until a wake-up, unless the word has changed from `value` already. */
void ch_futex_wait(UInt *word, UInt value);
/* Wakes one sleeper. */
void ch_futex_wake(UInt *word);

#endif
