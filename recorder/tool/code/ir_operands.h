/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Visits the operands of flat IR. In flat IR each operand is an atom: a temp or
 * a constant. The functions are inline because translation spends noticeable
 * time here, and most visitors are tiny.
 */
#ifndef CHRONICLE_RECORDER_TOOL_CODE_IR_OPERANDS_H
#define CHRONICLE_RECORDER_TOOL_CODE_IR_OPERANDS_H

#include "recorder/tool/core/valgrind_core.h"

typedef void ch_operand_visitor(IRExpr *atom);

/* Visits each operand of an expression, in order. An atom is its own operand.
 */
static inline void ch_ir_visit_expression(IRExpr *e,
                                          ch_operand_visitor *visit) {
  switch (e->tag) {
  case Iex_RdTmp:
  case Iex_Const:
    visit(e);
    break;
  case Iex_GetI:
    visit(e->Iex.GetI.ix);
    break;
  case Iex_Load:
    visit(e->Iex.Load.addr);
    break;
  case Iex_Unop:
    visit(e->Iex.Unop.arg);
    break;
  case Iex_Binop:
    visit(e->Iex.Binop.arg1);
    visit(e->Iex.Binop.arg2);
    break;
  case Iex_Triop:
    visit(e->Iex.Triop.details->arg1);
    visit(e->Iex.Triop.details->arg2);
    visit(e->Iex.Triop.details->arg3);
    break;
  case Iex_Qop:
    visit(e->Iex.Qop.details->arg1);
    visit(e->Iex.Qop.details->arg2);
    visit(e->Iex.Qop.details->arg3);
    visit(e->Iex.Qop.details->arg4);
    break;
  case Iex_ITE:
    visit(e->Iex.ITE.cond);
    visit(e->Iex.ITE.iftrue);
    visit(e->Iex.ITE.iffalse);
    break;
  case Iex_CCall:
    for (IRExpr **arg = e->Iex.CCall.args; *arg; arg++)
      visit(*arg);
    break;
  default:
    break;
  }
}

/* Visits each operand of a statement, in the order of the replay bytecode
   (trace-format/Bytecode.h). */
static inline void ch_ir_visit_statement(IRStmt *s, ch_operand_visitor *visit) {
  switch (s->tag) {
  case Ist_Put:
    visit(s->Ist.Put.data);
    break;
  case Ist_PutI:
    visit(s->Ist.PutI.details->ix);
    visit(s->Ist.PutI.details->data);
    break;
  case Ist_WrTmp:
    ch_ir_visit_expression(s->Ist.WrTmp.data, visit);
    break;
  case Ist_Store:
    visit(s->Ist.Store.addr);
    visit(s->Ist.Store.data);
    break;
  case Ist_StoreG:
    visit(s->Ist.StoreG.details->guard);
    visit(s->Ist.StoreG.details->addr);
    visit(s->Ist.StoreG.details->data);
    break;
  case Ist_LoadG:
    visit(s->Ist.LoadG.details->guard);
    visit(s->Ist.LoadG.details->addr);
    visit(s->Ist.LoadG.details->alt);
    break;
  case Ist_CAS: {
    const IRCAS *c = s->Ist.CAS.details;
    visit(c->addr);
    visit(c->expdLo);
    visit(c->dataLo);
    if (c->oldHi != IRTemp_INVALID) {
      visit(c->expdHi);
      visit(c->dataHi);
    }
    break;
  }
  case Ist_Dirty: {
    const IRDirty *d = s->Ist.Dirty.details;
    visit(d->guard);
    if (d->mFx != Ifx_None)
      visit(d->mAddr);
    for (IRExpr **arg = d->args; *arg; arg++)
      visit(*arg);
    break;
  }
  case Ist_Exit:
    visit(s->Ist.Exit.guard);
    break;
  default:
    break;
  }
}

#endif
