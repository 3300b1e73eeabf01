/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds IR to the superblock that is being made. */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_IR_BUILDER_H
#define CHRONICLE_RECORDER_TOOL_CODE_IR_BUILDER_H

#include "recorder/tool/core/valgrind_core.h"

/* From now on the functions below add to this superblock. */
void ch_ir_begin(IRSB *superblock);
void ch_ir_emit(IRStmt *s);
/* How many statements there are, which is the index of the next. */
Int ch_ir_count(void);

/* Assigns the value to a new temp and returns that. */
IRExpr *ch_ir_assign(IRType type, IRExpr *value);
IRExpr *ch_ir_unop(IRType type, IROp op, IRExpr *a);
IRExpr *ch_ir_binop(IRType type, IROp op, IRExpr *a, IRExpr *b);
IRExpr *ch_ir_get(UInt offset, IRType type);
void ch_ir_store(IRExpr *address, IRExpr *value);

IRExpr *ch_ir_u8(UInt value);
IRExpr *ch_ir_u64(ULong value);
/* An address some bytes further on. */
IRExpr *ch_ir_plus(IRExpr *address, ULong offset);
/* The address, or `otherwise` if the guard is false (NULL: it never is). */
IRExpr *ch_ir_guarded(IRExpr *guard, IRExpr *address, ULong otherwise);
/* A field of the cursor; `field` is its offset. */
IRExpr *ch_ir_get_cursor(UInt field);

IRType ch_ir_type_of(IRExpr *e);
/* Bytes that a value of the type takes in memory; 1 for a truth value. */
UInt ch_ir_size_of(IRType type);

#endif
