/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that several threads use: another thread may run right after an
 * access to it.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CHAOS_ACCESSES_H
#define CHRONICLE_RECORDER_TOOL_CHAOS_ACCESSES_H

#include "recorder/tool/core/valgrind_core.h"

/* Called by generated code at an access. */
void ch_chaos_load(Addr address);
void ch_chaos_store(Addr address);

#endif
