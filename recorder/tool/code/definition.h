/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the definition of a superblock: its replay program in the bytecode of
 * trace-format/Bytecode.h, made from flat VEX IR. The functions are called in
 * program order, each once per statement.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_DEFINITION_H
#define CHRONICLE_RECORDER_TOOL_CODE_DEFINITION_H

#include "recorder/tool/code/stack.h"
#include "recorder/tool/core/valgrind_core.h"

void ch_define_begin(IRSB *in, Addr address);

void ch_define_instruction(UInt length);
/* An assignment whose value replay can compute (ch_replay_computes()). */
void ch_define_assignment(IRTemp temp, IRExpr *value);
/* Any other statement that changes registers or memory, without those of
   helpers: PUTs, stores, guarded loads, compare-and-swap. */
void ch_define_statement(IRStmt *s);
void ch_define_opaque(IRTemp temp, UInt reason);
void ch_define_opaque_registers(UInt offset, UInt size, UInt reason);
void ch_define_opaque_memory(IRExpr *guard, IRExpr *address, UInt size,
                             UInt reason);
void ch_define_stack_pointer(enum ch_stack_origin origin);
/* The side exit that this statement is, and the end of the superblock. */
void ch_define_exit(IRStmt *s, struct ch_stack_pointer at);
void ch_define_next(IRExpr *target, IRJumpKind kind,
                    struct ch_stack_pointer at);

struct ch_hash {
  ULong low, high;
};

/* A definition: its head, followed by its body. Stored ones have all of it in
   the head. */
struct ch_definition {
  const UChar *head;
  UInt head_size;
  const UChar *body;
  UInt body_size;
  struct ch_hash hash; /* of all its bytes */
};

/* Returns the definition, which is valid until the next one begins. */
struct ch_definition ch_define_end(UInt instructions, UInt exits, UInt slots);

#endif
