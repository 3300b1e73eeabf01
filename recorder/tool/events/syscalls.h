/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls: number, arguments, result, what they print, and those of their
   effects on memory that Valgrind's wrappers do not report. */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALLS_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_SYSCALLS_H

#include "recorder/tool/core/valgrind_core.h"

void ch_syscalls_init(void);

#endif
