/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of the program that change files. Mappings of such a file show
 * the change, without a store and without a report of Valgrind's: all shared
 * mappings, and those pages of private ones that the program has not stored to.
 * So the bytes of the mappings that a call may have changed are logged after
 * it.
 *
 * Cost: one system call per call that writes to a file, and another three if
 * the file is mapped.
 */
#ifndef CHRONICLE_RECORDER_TOOL_EVENTS_FILE_WRITES_H
#define CHRONICLE_RECORDER_TOOL_EVENTS_FILE_WRITES_H

#include "recorder/tool/core/valgrind_core.h"

/* To be called before and after every system call, whether it succeeds or
   not. */
void ch_file_writes_before(ThreadId tid, UInt number, const UWord *args);
void ch_file_writes_after(ThreadId tid, UInt number, const UWord *args,
                          SysRes result);

#endif
