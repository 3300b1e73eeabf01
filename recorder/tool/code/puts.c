/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/puts.h"
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/code/ir_operands.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/events/signals.h"

static IRSB *in;
/* By statement: for a PUT, whether it is dead; for an assignment, whether it
   may fault although nothing uses its value. */
static CH_GROWING_ARRAY(Bool) verdicts;

/* ---- PUTs that change nothing ---- */

/* The constants that the words of the guest state are known to hold, or NULL.
   The parts of the flags are often set to the constant they have. */
#define STATE_WORDS (CH_GUEST_STATE_SIZE / 8)
static IRConst *known[STATE_WORDS];

static void forget(Int offset, Int size) {
  for (Int w = offset / 8; w <= (offset + size - 1) / 8 && w < STATE_WORDS; w++)
    known[w] = NULL;
}

void ch_puts_forget(void) { forget(0, CH_GUEST_STATE_SIZE); }

/* Whether the PUT is one that is kept account of: of a constant to a word. */
static Bool is_constant_word(const IRStmt *put) {
  IRExpr *data = put->Ist.Put.data;
  return data->tag == Iex_Const && put->Ist.Put.offset % 8 == 0 &&
         typeOfIRExpr(in->tyenv, data) == Ity_I64;
}

static Bool changes_nothing(const IRStmt *put) {
  if (!is_constant_word(put))
    return False;
  const IRConst *now = known[put->Ist.Put.offset / 8];
  return now && now->Ico.U64 == put->Ist.Put.data->Iex.Const.con->Ico.U64;
}

void ch_puts_made(Int statement) {
  const IRStmt *put = in->stmts[statement];
  if (is_constant_word(put))
    known[put->Ist.Put.offset / 8] = put->Ist.Put.data->Iex.Const.con;
  else
    forget(put->Ist.Put.offset,
           ch_ir_size_of(typeOfIRExpr(in->tyenv, put->Ist.Put.data)));
}

/* ---- temps that are used ---- */

static CH_GROWING_ARRAY(Bool) used; /* by temp */

static void use(IRExpr *atom) {
  if (atom->tag == Iex_RdTmp)
    used.items[atom->Iex.RdTmp.tmp] = True;
}

/* ---- dead PUTs ---- */

static Bool is_division(IROp op) {
  switch (op) {
  case Iop_DivModU64to32:
  case Iop_DivModS64to32:
  case Iop_DivModU128to64:
  case Iop_DivModS128to64:
  case Iop_DivModS64to64:
  case Iop_DivModU64to64:
  case Iop_DivModU32to32:
  case Iop_DivModS32to32:
  case Iop_DivU32:
  case Iop_DivS32:
  case Iop_DivU64:
  case Iop_DivS64:
    return True;
  default:
    return False;
  }
}

static Bool can_fault(const IRStmt *s) {
  switch (s->tag) {
  case Ist_Store:
  case Ist_StoreG:
  case Ist_LoadG:
  case Ist_CAS:
    return True;
  case Ist_WrTmp: {
    const IRExpr *e = s->Ist.WrTmp.data;
    return e->tag == Iex_Load ||
           (e->tag == Iex_Binop && is_division(e->Iex.Binop.op));
  }
  default:
    return False;
  }
}

/* By byte of the guest state: it is PUT again before anything can read it. */
static UChar overwritten[CH_GUEST_STATE_SIZE + 64];

static void set_overwritten(Int offset, Int size, Bool to) {
  VG_(memset)(overwritten + offset, to, size);
}

static Int size_of_put(const IRStmt *put) {
  return ch_ir_size_of(typeOfIRExpr(in->tyenv, put->Ist.Put.data));
}

static Bool is_dead(const IRStmt *put) {
  const Int offset = put->Ist.Put.offset, size = size_of_put(put);
  /* instrument.c logs the whole of RSP after a PUT to a part of it. */
  Bool dead = offset + size <= CH_OFFSET_RSP || offset >= CH_OFFSET_RSP + 8 ||
              size == 8;
  for (Int k = 0; k < size; k++)
    dead &= overwritten[offset + k];
  return dead;
}

/* Follows which registers a statement other than a PUT can read. Exits do not
   read RIP: an exit that is taken sets it. */
static void read_registers(const IRStmt *s) {
  const IRExpr *value = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;
  if (value && value->tag == Iex_Get)
    set_overwritten(value->Iex.Get.offset, ch_ir_size_of(value->Iex.Get.ty),
                    False);
  else if (s->tag == Ist_Exit) {
    const Bool rip = overwritten[CH_OFFSET_RIP];
    set_overwritten(0, sizeof overwritten, False);
    set_overwritten(CH_OFFSET_RIP, 8, rip);
  } else if (can_fault(s) && !ch_faults_handled) {
    set_overwritten(CH_OFFSET_RIP, 8, False);
    set_overwritten(CH_OFFSET_RSP, 8, False);
  } else if (s->tag == Ist_PutI || s->tag == Ist_Dirty || can_fault(s) ||
             (value && value->tag == Iex_GetI))
    set_overwritten(0, sizeof overwritten, False);
}

/* Judges a statement, given what comes after it. */
static Bool judge(IRStmt *s) {
  Bool verdict = False, dropped = False;
  switch (s->tag) {
  case Ist_Put:
    verdict = dropped = is_dead(s);
    set_overwritten(s->Ist.Put.offset, size_of_put(s), True);
    break;
  case Ist_WrTmp:
    read_registers(s);
    verdict = can_fault(s) && !used.items[s->Ist.WrTmp.tmp];
    dropped = !verdict && !used.items[s->Ist.WrTmp.tmp];
    break;
  default:
    read_registers(s);
  }
  if (!dropped)
    ch_ir_visit_statement(s, use);
  return verdict;
}

void ch_puts_begin(IRSB *superblock) {
  in = superblock;
  ch_puts_forget();
  ch_array_reserve(&verdicts, in->stmts_used);
  ch_array_reserve(&used, in->tyenv->types_used);
  VG_(memset)(used.items, False, in->tyenv->types_used * sizeof *used.items);
  use(in->next);
  set_overwritten(0, sizeof overwritten, False);
  /* The end of the superblock sets RIP. */
  set_overwritten(CH_OFFSET_RIP, 8, True);
  for (Int i = in->stmts_used - 1; i >= 0; i--)
    verdicts.items[i] = judge(in->stmts[i]);
}

Bool ch_puts_needs(Int statement) {
  return !verdicts.items[statement] && !changes_nothing(in->stmts[statement]);
}

Bool ch_puts_unused_fault(Int statement) { return verdicts.items[statement]; }
