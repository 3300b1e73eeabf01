/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/instrument.h"
#include "recorder/tool/chaos/chaos.h"
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/code/operations.h"
#include "recorder/tool/code/places.h"
#include "recorder/tool/code/puts.h"
#include "recorder/tool/code/slots.h"
#include "recorder/tool/code/stack.h"
#include "recorder/tool/code/stores.h"
#include "recorder/tool/code/switch_points.h"
#include "recorder/tool/code/watches.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/events/client_code.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"
#include "recorder/tool/stream/ring.h"

static IRSB *in, *out;
static IRExpr *run_end;       /* where this execution's run word ends */
static Int take_slots;        /* the statement that takes slots */
static UInt instructions;     /* so far */
static Addr instruction;      /* the current one, */
static UInt length;           /* its length, */
static Addr next_instruction; /* and the address behind it */
static UInt exits;            /* side exits so far */

/* Constants that are known only when the superblock is complete. run_words[n]
   is the run word after n side exits were passed. */
static IRConst *weight, *slot_bytes;
static IRConst *run_words[CH_MAX_ORDINAL];

UInt (*ch_number_exits)(const struct ch_superblock *s);
static struct ch_superblock superblock;
static CH_GROWING_ARRAY(UInt) reasons; /* of this superblock's opaque values */

/* ---- assignments ---- */

static void opaque(IRTemp temp, UInt reason) {
  ch_define_opaque(temp, reason);
  ch_slots_log_value(IRExpr_RdTmp(temp));
}

/* Uses a value, so that VEX does not drop what may fault. */
static void keep(IRTemp temp) {
  IRExpr *value = IRExpr_RdTmp(temp);
  if (ch_ir_type_of(value) == Ity_I128)
    value = ch_ir_unop(Ity_I64, Iop_128to64, value);
  ch_ir_emit(IRStmt_Put(CH_UNUSED_OFFSET, value));
}

/* Logs a load that happened if the guard (NULL: none) is true, where that is
   needed. */
static void do_loaded(IRExpr *guard, IRExpr *address, IRExpr *value) {
  if (ch_logging_loads)
    ch_slots_log_access(guard, address, value);
  else if (ch_watching)
    ch_watches_access(CH_WATCH_LOAD, guard, address, value);
}

static void do_assignment(IRStmt *s, Bool unused_fault) {
  IRTemp temp = s->Ist.WrTmp.tmp;
  IRExpr *e = s->Ist.WrTmp.data;
  ch_ir_emit(s);
  if (unused_fault)
    keep(temp);
  ch_stack_assign(temp, e);
  if (!ch_replay_computes(e)) {
    ch_array_append(&reasons, ch_opaque_reason(e));
    opaque(temp, ch_opaque_reason(e));
    return;
  }
  ch_define_assignment(temp, e);
  if (e->tag == Iex_Load)
    do_loaded(NULL, e->Iex.Load.addr, IRExpr_RdTmp(temp));
}

/* ---- loads and stores ---- */

static Bool marks_stores(void) { return ch_marking && !ch_logging_loads; }

/* Marks or logs a store that happened if the guard (NULL: none) is true. */
static void do_stored(IRExpr *guard, IRExpr *address, IRExpr *value) {
  if (!marks_stores())
    ch_slots_log_access(guard, address, value);
  else if (guard)
    ch_stores_mark_guarded(guard, address, ch_ir_size_of(ch_ir_type_of(value)));
  else
    ch_stores_mark(address);
  if (ch_watching)
    ch_watches_access(CH_WATCH_STORE, guard, address, value);
}

static void do_load_guarded(IRStmt *s) {
  IRLoadG *load = s->Ist.LoadG.details;
  ch_ir_emit(s);
  ch_define_statement(s);
  if (!ch_logging_loads && !ch_watching)
    return;
  IRExpr *value = IRExpr_RdTmp(load->dst);
  switch (load->cvt) {
  case ILGop_16Uto32:
  case ILGop_16Sto32:
    value = ch_ir_unop(Ity_I16, Iop_32to16, value);
    break;
  case ILGop_8Uto32:
  case ILGop_8Sto32:
    value = ch_ir_unop(Ity_I8, Iop_32to8, value);
    break;
  default:
    break;
  }
  do_loaded(load->guard, load->addr, value);
}

static IROp comparison_of(IRType type) {
  switch (type) {
  case Ity_I8:
    return Iop_CasCmpEQ8;
  case Ity_I16:
    return Iop_CasCmpEQ16;
  case Ity_I32:
    return Iop_CasCmpEQ32;
  default:
    return Iop_CasCmpEQ64;
  }
}

static void do_cas(IRStmt *s) {
  IRCAS *cas = s->Ist.CAS.details;
  const IRType type = typeOfIRTemp(in->tyenv, cas->oldLo);
  const IROp equal = comparison_of(type);
  ch_ir_emit(s);
  ch_define_statement(s);
  IRExpr *old_low = IRExpr_RdTmp(cas->oldLo);
  IRExpr *swapped = ch_ir_binop(Ity_I1, equal, old_low, cas->expdLo);
  if (cas->oldHi == IRTemp_INVALID) {
    if (ch_logging_loads)
      ch_slots_log_access(NULL, cas->addr, old_low);
    if (ch_watching)
      ch_watches_access(CH_WATCH_SWAP, NULL, cas->addr, old_low);
    do_stored(swapped, cas->addr, cas->dataLo);
    return;
  }
  IRExpr *old_high = IRExpr_RdTmp(cas->oldHi);
  swapped = ch_ir_binop(Ity_I1, Iop_And1, swapped,
                        ch_ir_binop(Ity_I1, equal, old_high, cas->expdHi));
  if (ch_logging_loads)
    ch_slots_log_pair(NULL, cas->addr, old_low, old_high);
  if (marks_stores())
    ch_stores_mark_guarded(swapped, cas->addr, 2 * ch_ir_size_of(type));
  else
    ch_slots_log_pair(swapped, cas->addr, cas->dataLo, cas->dataHi);
  if (!ch_watching)
    return;
  ch_watches_access_pair(CH_WATCH_SWAP, NULL, cas->addr, old_low, old_high);
  ch_watches_access_pair(CH_WATCH_STORE, swapped, cas->addr, cas->dataLo,
                         cas->dataHi);
}

/* A helper with side effects. Replay computes none of them, so all are logged.
 */
static void do_dirty(IRStmt *s) {
  IRDirty *d = s->Ist.Dirty.details;
  ch_ir_emit(s);
  ch_puts_forget();
  if (d->tmp != IRTemp_INVALID)
    opaque(d->tmp, CH_REASON_HELPER);
  for (Int f = 0; f < d->nFxState; f++) {
    if (d->fxState[f].fx == Ifx_Read)
      continue;
    for (UInt r = 0; r <= d->fxState[f].nRepeats; r++) {
      UInt offset = d->fxState[f].offset + r * d->fxState[f].repeatLen;
      UInt size = d->fxState[f].size;
      ch_define_opaque_registers(offset, size, CH_REASON_HELPER);
      ch_slots_log_registers(offset, size);
    }
  }
  if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify) {
    ch_define_opaque_memory(d->guard, d->mAddr, d->mSize, CH_REASON_HELPER);
    IRExpr *logged = ch_slots_log_memory(d->guard, d->mAddr, d->mSize);
    if (ch_watching)
      ch_watches_written(d->guard, d->mAddr, logged, d->mSize);
  }
}

/* ---- PUTs ---- */

/* Whether a PUT of RIP only says where the program is. Replay knows that from
   the instructions. */
static Bool is_plain_rip(IRStmt *s) {
  if (s->Ist.Put.offset != CH_OFFSET_RIP || s->Ist.Put.data->tag != Iex_Const)
    return False;
  ULong value = s->Ist.Put.data->Iex.Const.con->Ico.U64;
  return value == instruction || value == instruction + length;
}

/* The indexer follows calls by the stack pointer, so its value is logged where
   it is set to something that is not known at translation. */
static void do_stack_put(IRStmt *s) {
  IRExpr *value = s->Ist.Put.data;
  enum ch_stack_origin origin;
  if (!ch_stack_put(s->Ist.Put.offset, value, &origin))
    return;
  ch_define_stack_pointer(origin);
  ch_slots_log_value(ch_ir_type_of(value) == Ity_I64
                         ? value
                         : ch_ir_get(CH_OFFSET_RSP, Ity_I64));
}

static void do_put(IRStmt *s, Int index) {
  if (!is_plain_rip(s))
    ch_define_statement(s);
  if (ch_puts_needs(index)) {
    ch_ir_emit(s);
    ch_puts_made(index);
  }
  do_stack_put(s);
}

/* ---- the superblock ---- */

/* Calls ch_block_full_called() if the budget is used up. */
static void charge_budget(void) {
  IRExpr *left = ch_ir_binop(
      Ity_I64, Iop_Sub64, ch_ir_get_cursor(offsetof(struct ch_cursor, budget)),
      IRExpr_Const(weight));
  ch_ir_emit(
      IRStmt_Put(CH_CURSOR_OFFSET + offsetof(struct ch_cursor, budget), left));
  IRDirty *full = unsafeIRDirty_0_N(
      0, "ch_block_full_called", VG_(fnptr_to_fnentry)(&ch_block_full_called),
      mkIRExprVec_0());
  full->guard = ch_ir_binop(Ity_I1, Iop_CmpLT64S, left, ch_ir_u64(0));
  VG_(memset)(full->fxState, 0, sizeof full->fxState);
  /* It reads every register (for a snapshot) and moves the cursor. */
  full->nFxState = 2;
  full->fxState[0].fx = Ifx_Read;
  full->fxState[0].offset = 16;
  full->fxState[0].size = CH_GUEST_STATE_SIZE - 16;
  full->fxState[1].fx = Ifx_Modify;
  full->fxState[1].offset = CH_CURSOR_OFFSET;
  full->fxState[1].size = sizeof(struct ch_cursor);
  ch_ir_emit(IRStmt_Dirty(full));
}

/* Writes by which exit this execution leaves, unless it gets further. The word
   is written as eight bytes, because VEX's back end makes one instruction of
   storing a constant of eight bytes and two of storing one of four. The word
   behind it becomes 0, which it is anyway until it is taken. A load of watched
   memory may have taken it. */
static void write_run_word(IRConst *word) {
  IRExpr *value = IRExpr_Const(word);
  if (ch_watching)
    value = ch_ir_unop(Ity_I32, Iop_64to32, value);
  ch_ir_store(ch_ir_plus(run_end, -4ull), value);
}

/* Takes a run word and slots from the cursor. */
static void allocate(void) {
  run_end = ch_ir_plus(ch_ir_get_cursor(offsetof(struct ch_cursor, run)), 4);
  ch_ir_emit(
      IRStmt_Put(CH_CURSOR_OFFSET + offsetof(struct ch_cursor, run), run_end));
  IRExpr *slots = ch_ir_get_cursor(offsetof(struct ch_cursor, store));
  take_slots = ch_ir_count() + 1;
  ch_ir_emit(IRStmt_Put(
      CH_CURSOR_OFFSET + offsetof(struct ch_cursor, store),
      ch_ir_binop(Ity_I64, Iop_Add64, slots, IRExpr_Const(slot_bytes))));
  ch_slots_begin(slots);
  write_run_word(run_words[0]);
}

/* Before the first instruction. */
static void begin(Addr address) {
  weight = IRConst_U64(0);
  slot_bytes = IRConst_U64(0);
  run_words[0] = IRConst_U64(0);
  instructions = exits = length = 0;
  reasons.used = 0;
  instruction = next_instruction = address;
  ch_define_begin(in, address);
  ch_stack_begin(in->tyenv);
  charge_budget();
  allocate();
}

static void do_instruction(IRStmt *s) {
  instruction = s->Ist.IMark.addr;
  length = s->Ist.IMark.len;
  tl_assert(instruction == next_instruction && s->Ist.IMark.delta == 0);
  next_instruction += length;
  instructions++;
  ch_define_instruction(length);
  ch_ir_emit(s);
}

static void do_exit(IRStmt *s) {
  exits++;
  tl_assert(exits < CH_MAX_ORDINAL);
  ch_define_exit(s, ch_stack_now());
  ch_ir_emit(s);
  run_words[exits] = IRConst_U64(0);
  write_run_word(run_words[exits]);
}

static void do_statement(IRStmt *s, Int index) {
  switch (s->tag) {
  case Ist_NoOp:
    break;
  case Ist_AbiHint:
  case Ist_MBE:
    ch_ir_emit(s);
    break;
  case Ist_IMark:
    do_instruction(s);
    break;
  case Ist_Put:
    do_put(s, index);
    break;
  case Ist_PutI:
    ch_define_statement(s);
    ch_puts_forget();
    ch_ir_emit(s);
    break;
  case Ist_WrTmp:
    do_assignment(s, ch_puts_unused_fault(index));
    break;
  case Ist_Store:
    ch_define_statement(s);
    ch_ir_emit(s);
    do_stored(NULL, s->Ist.Store.addr, s->Ist.Store.data);
    break;
  case Ist_StoreG: {
    IRStoreG *g = s->Ist.StoreG.details;
    ch_define_statement(s);
    ch_ir_emit(s);
    do_stored(g->guard, g->addr, g->data);
    break;
  }
  case Ist_LoadG:
    do_load_guarded(s);
    break;
  case Ist_CAS:
    do_cas(s);
    break;
  case Ist_Dirty:
    do_dirty(s);
    break;
  case Ist_Exit:
    do_exit(s);
    break;
  default:
    ppIRStmt(s);
    VG_(tool_panic)("unexpected statement in amd64 code");
  }
}

/* Completes the definition and fills in the constants. */
static void finish(void) {
  const UInt bytes = ch_slots_bytes(), count = bytes / CH_SLOT_SIZE;
  tl_assert(count <= CH_MAX_SLOTS);
  ch_define_next(in->next, in->jumpkind, ch_stack_now());
  /* A superblock with many slots counts as longer, so that the store area of a
     chunk cannot overflow before the budget is used up. */
  const UInt room = (bytes + CH_STORE_BYTES_PER_INSTRUCTION - 1) /
                    CH_STORE_BYTES_PER_INSTRUCTION;
  weight->Ico.U64 = instructions > room ? instructions : room;
  slot_bytes->Ico.U64 = bytes;
  if (!bytes)
    out->stmts[take_slots] = IRStmt_NoOp();
  superblock.definition = ch_define_end(instructions, exits, count);
  superblock.run_words = exits + 1;
  superblock.reasons = reasons.items;
  superblock.reason_count = reasons.used;
  superblock.decodes = in->jumpkind != Ijk_NoDecode;
  const UInt first_exit = ch_number_exits(&superblock);
  for (UInt i = 0; i <= exits; i++)
    run_words[i]->Ico.U64 = first_exit + i;
}

IRSB *ch_instrument(VgCallbackClosure *closure, IRSB *original,
                    const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *arch,
                    IRType guest_word, IRType host_word) {
  in = original;
  if (ch_chaos_in_code)
    ch_switch_points_begin(in);
  out = deepCopyIRSBExceptStmts(in);
  ch_ir_begin(out);
  ch_puts_begin(in);
  ch_places_begin(in);
  ch_stores_begin(in);
  ch_watches_begin();

  /* Valgrind's check that the code has not changed comes before the first
     instruction. If it fails the superblock was not entered. */
  Int i = 0;
  for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
    ch_ir_emit(in->stmts[i]);
  if (i == in->stmts_used)
    return in;
  begin(in->stmts[i]->Ist.IMark.addr);
  for (; i < in->stmts_used; i++) {
    do_statement(in->stmts[i], i);
    if (ch_chaos_in_code)
      ch_switch_points_add(in->stmts[i]);
  }
  finish();
  return out;
}
