/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where another thread may run under chaos: accesses to memory that is not the
   thread's own stack. */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_SWITCH_POINTS_H
#define CHRONICLE_RECORDER_TOOL_CODE_SWITCH_POINTS_H

#include "recorder/tool/core/valgrind_core.h"

/* Ends the superblock after its first such access: threads are switched only
   between superblocks. Nothing may have looked at the superblock before. */
void ch_switch_points_begin(IRSB *in);
/* Emits the call for a statement that has been emitted, if it needs one. */
void ch_switch_points_add(const IRStmt *s);

#endif
