/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/places.h"
#include "recorder/tool/core/growing_array.h"

static CH_GROWING_ARRAY(struct ch_place) places; /* the values of temps */

struct ch_place ch_place_of(IRExpr *atom) {
  if (atom->tag == Iex_RdTmp)
    return places.items[atom->Iex.RdTmp.tmp];
  struct ch_place p = {IRTemp_INVALID, (Long)atom->Iex.Const.con->Ico.U64};
  return p;
}

static struct ch_place place_of_value(IRTemp temp, IRExpr *e) {
  struct ch_place p = {temp, 0};
  if (e->tag == Iex_RdTmp)
    return ch_place_of(e);
  if (e->tag != Iex_Binop)
    return p;
  IRExpr *a = e->Iex.Binop.arg1, *b = e->Iex.Binop.arg2;
  if ((e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64) ||
      a->tag != Iex_RdTmp || b->tag != Iex_Const)
    return p;
  ULong k = b->Iex.Const.con->Ico.U64;
  p = ch_place_of(a);
  p.offset = (ULong)p.offset + (e->Iex.Binop.op == Iop_Add64 ? k : -k);
  return p;
}

void ch_places_begin(IRSB *in) {
  ch_array_reserve(&places, in->tyenv->types_used);
  for (Int t = 0; t < in->tyenv->types_used; t++) {
    places.items[t].base = t;
    places.items[t].offset = 0;
  }
  for (Int i = 0; i < in->stmts_used; i++) {
    IRStmt *s = in->stmts[i];
    if (s->tag == Ist_WrTmp)
      places.items[s->Ist.WrTmp.tmp] =
          place_of_value(s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
  }
}
