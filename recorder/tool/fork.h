/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A forked child is recorded into a trace of its own, which begins with the
 * memory of its parent. It keeps its parent's translations, and so the numbers
 * of their exits: the indexer knows these from its parent.
 */
#ifndef CHRONICLE_RECORDER_TOOL_FORK_H
#define CHRONICLE_RECORDER_TOOL_FORK_H

#include "recorder/tool/core/valgrind_core.h"

/* `record`: forked children are recorded. If not, or if they cannot be, they
   run on unrecorded until they execute a program. `number`: that of this
   recording. */
void ch_fork_init(Bool record, UInt number);

#endif
