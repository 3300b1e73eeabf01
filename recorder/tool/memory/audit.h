/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends memory to the indexer, which compares it with its own image: a
 * difference is a write that was never logged.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_AUDIT_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_AUDIT_H

#include "recorder/tool/core/valgrind_core.h"

/* Sends one writable page, and looks whether one mapped file has changed, whose
   mappings it then sends. The next call does the same for the next of both. */
void ch_audit_next(void);
/* Sends all writable memory that exists, up to 256 MiB, and the mappings of all
   files that have changed. */
void ch_audit_all(void);
/* What mappings of the file hold is known as of now. */
void ch_audit_accept_file(const struct vg_stat *now);

#endif
