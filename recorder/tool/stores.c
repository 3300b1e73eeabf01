/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that marks a superblock's stores (marks.c says what marks are): the
 * bytes, which is one instruction, and the stretch they begin in, which is
 * three.
 *
 * A mark of a stretch vouches for MARKS_REACH bytes from where it was set.
 * Stores come in groups: pushes, the fields of a structure. Those that lie
 * together by their addresses (the same value plus constants) share one, set
 * with the first of them at the lowest address among them: a stretch that is
 * marked in vain costs a look at it. What was marked before is not marked
 * again.
 */
#include "tool.h"

/* An address: what a temp holds plus a constant; without a temp just that. */
typedef struct {
  IRTemp base;
  Long offset;
} Place;

typedef struct {
  Place at;
  Long size;
} Range;

static Place *places; /* by temp */
static Int places_size;
static Range *stores; /* those without a guard, in program order */
static Int stores_size, stores_used;
static Int done;       /* how many of them were marked */
static Range *vouched; /* for, by marks of stretches */
static Int vouched_used;
static IRExpr *marks, *stretch_marks; /* the cursor's, once loaded */

static Place place_of(IRExpr *e) {
  Place p = {IRTemp_INVALID, 0};
  if (e->tag == Iex_RdTmp)
    return places[e->Iex.RdTmp.tmp];
  p.offset = (Long)e->Iex.Const.con->Ico.U64;
  return p;
}

static Place place_of_value(IRTemp temp, IRExpr *e) {
  Place p = {temp, 0};
  if (e->tag == Iex_RdTmp)
    return place_of(e);
  if (e->tag != Iex_Binop)
    return p;
  IRExpr *a = e->Iex.Binop.arg1, *b = e->Iex.Binop.arg2;
  if ((e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64) ||
      a->tag != Iex_RdTmp || b->tag != Iex_Const)
    return p;
  ULong k = b->Iex.Const.con->Ico.U64;
  p = place_of(a);
  p.offset = (ULong)p.offset + (e->Iex.Binop.op == Iop_Add64 ? k : -k);
  return p;
}

void stores_begin(IRSB *in) {
  places = table(places, &places_size, in->tyenv->types_used, sizeof *places);
  /* As many as statements, twice: the second half is what is vouched for. */
  stores = table(stores, &stores_size, 2 * in->stmts_used, sizeof *stores);
  vouched = stores + in->stmts_used;
  stores_used = vouched_used = done = 0;
  marks = stretch_marks = NULL;
  for (Int t = 0; t < in->tyenv->types_used; t++) {
    places[t].base = t;
    places[t].offset = 0;
  }
  for (Int i = 0; i < in->stmts_used; i++) {
    IRStmt *s = in->stmts[i];
    if (s->tag == Ist_WrTmp)
      places[s->Ist.WrTmp.tmp] =
          place_of_value(s->Ist.WrTmp.tmp, s->Ist.WrTmp.data);
    else if (s->tag == Ist_Store) {
      Range *r = &stores[stores_used++];
      r->at = place_of(s->Ist.Store.addr);
      r->size = size_of(typeOfIRExpr(in->tyenv, s->Ist.Store.data));
    }
  }
}

static Bool is_within(Range inner, const Range *outer, Int count) {
  for (; count; outer++, count--)
    if (outer->at.base == inner.at.base &&
        outer->at.offset <= inner.at.offset &&
        inner.at.offset + inner.size <= outer->at.offset + outer->size)
      return True;
  return False;
}

/* VEX's back end makes one instruction of a store to a + (b << 3): hence
   marks_scaled(). Of a store of eight bytes' constant, too; for fewer the low
   bytes of marks_scaled() do, of which none is 0. */
static void mark_bytes(IRExpr *address, UInt size) {
  if (!marks)
    marks = get_cursor(offsetof(Cursor, marks));
  IRExpr *ones = size >= 8   ? u64(~0ull)
                 : size == 4 ? assign(Ity_I32, IRExpr_Unop(Iop_64to32, marks))
                 : size == 2 ? assign(Ity_I16, IRExpr_Unop(Iop_64to16, marks))
                             : assign(Ity_I8, IRExpr_Unop(Iop_64to8, marks));
  for (UInt at = 0; at < size; at += 8) {
    IRExpr *there = assign(
        Ity_I64,
        IRExpr_Binop(Iop_Add64, address,
                     assign(Ity_I64, IRExpr_Binop(Iop_Shl64, marks, u8(3)))));
    emit(IRStmt_Store(Iend_LE, plus(there, at), ones));
  }
}

static void mark_stretch(IRExpr *address) {
  if (!stretch_marks)
    stretch_marks = get_cursor(offsetof(Cursor, stretch_marks));
  IRExpr *stretch = assign(
      Ity_I64, IRExpr_Binop(Iop_Shr64, address, u8(MARKS_STRETCH_SHIFT)));
  IRExpr *there =
      assign(Ity_I64,
             IRExpr_Binop(Iop_Add64, stretch,
                          assign(Ity_I64, IRExpr_Binop(Iop_Shl64, stretch_marks,
                                                       u8(3)))));
  emit(IRStmt_Store(Iend_LE, there,
                    assign(Ity_I8, IRExpr_Unop(Iop_64to8, stretch_marks))));
}

void mark_store(IRExpr *address) {
  Range r = stores[done];
  if (!is_within(r, stores, done))
    mark_bytes(address, r.size);
  done++;
  if (is_within(r, vouched, vouched_used))
    return;
  Long end = r.at.offset + r.size, lowest = r.at.offset;
  for (Int i = done; i < stores_used; i++)
    if (stores[i].at.base == r.at.base && stores[i].at.offset < lowest &&
        stores[i].at.offset >= end - MARKS_REACH)
      lowest = stores[i].at.offset;
  mark_stretch(plus(address, lowest - r.at.offset));
  Range *v = &vouched[vouched_used++];
  v->at.base = r.at.base;
  v->at.offset = lowest;
  v->size = MARKS_REACH;
}

void mark_guarded_store(IRExpr *guard, IRExpr *address, UInt size) {
  /* Nothing is at 0, so a mark there is never looked at. */
  address = guarded(guard, address, 0);
  mark_bytes(address, size);
  mark_stretch(address);
}
