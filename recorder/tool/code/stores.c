/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/stores.h"
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/code/places.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/stream/ring.h"

struct range {
  struct ch_place at;
  Long size;
};

/* The stores without a guard, in program order, and how many are marked. */
static CH_GROWING_ARRAY(struct range) stores;
static Int marked;
/* What the marks of sectors stand for so far. */
static CH_GROWING_ARRAY(struct range) covered;
static IRExpr *byte_marks, *sector_marks; /* the cursor's, once loaded */

void ch_stores_begin(IRSB *in) {
  stores.used = covered.used = marked = 0;
  byte_marks = sector_marks = NULL;
  for (Int i = 0; i < in->stmts_used; i++) {
    IRStmt *s = in->stmts[i];
    if (s->tag != Ist_Store)
      continue;
    struct range r = {
        ch_place_of(s->Ist.Store.addr),
        ch_ir_size_of(typeOfIRExpr(in->tyenv, s->Ist.Store.data))};
    ch_array_append(&stores, r);
  }
}

/* Whether one of the ranges has all of `inner`. */
static Bool is_within(struct range inner, const struct range *outer,
                      Int count) {
  for (; count; outer++, count--)
    if (outer->at.base == inner.at.base &&
        outer->at.offset <= inner.at.offset &&
        inner.at.offset + inner.size <= outer->at.offset + outer->size)
      return True;
  return False;
}

/* address + (scaled << 3). VEX's back end makes one instruction of a store to
   that, hence the scaled distances. */
static IRExpr *scaled_plus(IRExpr *address, IRExpr *scaled) {
  return ch_ir_binop(Ity_I64, Iop_Add64, address,
                     ch_ir_binop(Ity_I64, Iop_Shl64, scaled, ch_ir_u8(3)));
}

/* The back end also makes one instruction of storing a constant of eight bytes.
   Shorter marks are the low bytes of the scaled distance, of which none is 0.
 */
static void mark_bytes(IRExpr *address, UInt size) {
  if (!byte_marks)
    byte_marks = ch_ir_get_cursor(offsetof(struct ch_cursor, byte_marks));
  IRExpr *ones = size >= 8   ? ch_ir_u64(~0ull)
                 : size == 4 ? ch_ir_unop(Ity_I32, Iop_64to32, byte_marks)
                 : size == 2 ? ch_ir_unop(Ity_I16, Iop_64to16, byte_marks)
                             : ch_ir_unop(Ity_I8, Iop_64to8, byte_marks);
  for (UInt at = 0; at < size; at += 8)
    ch_ir_store(ch_ir_plus(scaled_plus(address, byte_marks), at), ones);
}

static void mark_sector(IRExpr *address) {
  if (!sector_marks)
    sector_marks = ch_ir_get_cursor(offsetof(struct ch_cursor, sector_marks));
  IRExpr *sector =
      ch_ir_binop(Ity_I64, Iop_Shr64, address, ch_ir_u8(CH_SECTOR_SHIFT));
  IRExpr *there = scaled_plus(sector, sector_marks);
  ch_ir_store(there, ch_ir_unop(Ity_I8, Iop_64to8, sector_marks));
}

void ch_stores_mark(IRExpr *address) {
  struct range r = stores.items[marked];
  if (!is_within(r, stores.items, marked))
    mark_bytes(address, r.size);
  marked++;
  if (is_within(r, covered.items, covered.used))
    return;
  Long end = r.at.offset + r.size, lowest = r.at.offset;
  for (Int i = marked; i < stores.used; i++) {
    struct ch_place at = stores.items[i].at;
    if (at.base == r.at.base && at.offset < lowest &&
        at.offset >= end - CH_MARKS_REACH)
      lowest = at.offset;
  }
  mark_sector(ch_ir_plus(address, lowest - r.at.offset));
  struct range stands_for = {{r.at.base, lowest}, CH_MARKS_REACH};
  ch_array_append(&covered, stands_for);
}

void ch_stores_mark_guarded(IRExpr *guard, IRExpr *address, UInt size) {
  /* Nothing is mapped at 0, so a mark there is never looked at. */
  address = ch_ir_guarded(guard, address, 0);
  mark_bytes(address, size);
  mark_sector(address);
}
