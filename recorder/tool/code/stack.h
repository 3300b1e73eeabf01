/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the stack pointer through a superblock while it is translated. Mostly
 * it changes by constants, so that at each exit it is known up to its value at
 * entry. Where it is set to something else (leave, longjmp, alloca) the value
 * must be logged, and becomes a new base.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_STACK_H
#define CHRONICLE_RECORDER_TOOL_CODE_STACK_H

#include "recorder/tool/core/valgrind_core.h"

/* What is known of the stack pointer: it is a base plus a constant. Base 0 is
   its value at entry, base n the n-th value that was logged. */
struct ch_stack_pointer {
  UInt base;
  Long delta;
};

void ch_stack_begin(IRTypeEnv *types);
struct ch_stack_pointer ch_stack_now(void);
/* Follows an assignment. */
void ch_stack_assign(IRTemp temp, IRExpr *value);
/* Follows a PUT. Returns True if the stack pointer has a new base, so that its
   value must be logged; `origin` says where it came from. */
Bool ch_stack_put(Int offset, IRExpr *value, enum ch_stack_origin *origin);

#endif
