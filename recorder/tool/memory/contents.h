/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs what memory holds. */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_CONTENTS_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_CONTENTS_H

#include "recorder/tool/core/valgrind_core.h"

/* Logs [address, address + length) as written by `source`. Pages that cannot be
   read are left out. `safe`: the memory is expected to be readable, which saves
   a system call. */
void ch_contents_log(Addr address, SizeT length, enum ch_memory_source source,
                     ThreadId tid, Bool safe);
/* Logs that [start, end), which are whole pages, holds only zeros now. */
void ch_contents_log_zeros(Addr start, Addr end, enum ch_memory_source source,
                           ThreadId tid);

#endif
