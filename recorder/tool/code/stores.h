/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that marks a superblock's stores (memory/marks.h says what marks
 * are). Marking the bytes takes one instruction, marking the sector they begin
 * in takes three.
 *
 * Stores come in groups: pushes, the fields of a structure. A mark of a sector
 * stands for CH_MARKS_REACH bytes, so stores that lie that close together, as
 * far as their addresses show (the same value plus constants), share one. It is
 * made with the first of them, at the lowest address of them all. A sector that
 * is marked although nothing was stored there costs only a look at it. What is
 * marked already is not marked again.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_STORES_H
#define CHRONICLE_RECORDER_TOOL_CODE_STORES_H

#include "recorder/tool/core/valgrind_core.h"

void ch_stores_begin(IRSB *in);
/* Marks what the superblock's next store without a guard has just stored. */
void ch_stores_mark(IRExpr *address);
/* Marks a store that happened if the guard is true. */
void ch_stores_mark_guarded(IRExpr *guard, IRExpr *address, UInt size);

#endif
