/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends memory to the indexer, which compares it with its own image: a
 * difference is a write that was never logged.
 */
#ifndef CHRONICLE_RECORDER_TOOL_MEMORY_AUDIT_H
#define CHRONICLE_RECORDER_TOOL_MEMORY_AUDIT_H

#include "recorder/tool/core/valgrind_core.h"

/* Sends one writable page; the next call sends the next. */
void ch_audit_next_page(void);
/* Sends all writable memory that exists, up to 256 MiB. */
void ch_audit_all(void);

#endif
