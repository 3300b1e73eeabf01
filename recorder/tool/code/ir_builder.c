/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/stream/ring.h"

static IRSB *out;

void ch_ir_begin(IRSB *superblock) { out = superblock; }

void ch_ir_emit(IRStmt *s) { addStmtToIRSB(out, s); }

Int ch_ir_count(void) { return out->stmts_used; }

IRExpr *ch_ir_assign(IRType type, IRExpr *value) {
  IRTemp t = newIRTemp(out->tyenv, type);
  ch_ir_emit(IRStmt_WrTmp(t, value));
  return IRExpr_RdTmp(t);
}

IRExpr *ch_ir_unop(IRType type, IROp op, IRExpr *a) {
  return ch_ir_assign(type, IRExpr_Unop(op, a));
}

IRExpr *ch_ir_binop(IRType type, IROp op, IRExpr *a, IRExpr *b) {
  return ch_ir_assign(type, IRExpr_Binop(op, a, b));
}

IRExpr *ch_ir_get(UInt offset, IRType type) {
  return ch_ir_assign(type, IRExpr_Get(offset, type));
}

void ch_ir_store(IRExpr *address, IRExpr *value) {
  ch_ir_emit(IRStmt_Store(Iend_LE, address, value));
}

IRExpr *ch_ir_u8(UInt value) { return IRExpr_Const(IRConst_U8(value)); }

IRExpr *ch_ir_u64(ULong value) { return IRExpr_Const(IRConst_U64(value)); }

IRExpr *ch_ir_plus(IRExpr *address, ULong offset) {
  return offset ? ch_ir_binop(Ity_I64, Iop_Add64, address, ch_ir_u64(offset))
                : address;
}

IRExpr *ch_ir_guarded(IRExpr *guard, IRExpr *address, ULong otherwise) {
  if (!guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1))
    return address;
  return ch_ir_assign(Ity_I64,
                      IRExpr_ITE(guard, address, ch_ir_u64(otherwise)));
}

IRExpr *ch_ir_get_cursor(UInt field) {
  return ch_ir_get(CH_CURSOR_OFFSET + field, Ity_I64);
}

IRType ch_ir_type_of(IRExpr *e) { return typeOfIRExpr(out->tyenv, e); }

UInt ch_ir_size_of(IRType type) {
  return type == Ity_I1 ? 1 : sizeofIRType(type);
}
