/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code added to each superblock, and its replay program.
 *
 * The fast path, per execution: charge the block's budget (a compare never
 * taken), take a run word from the cursor and write the number of the first exit,
 * then that of the next after each side exit passed, and marks for the stores of
 * the program (stores.c). Superblocks with something to log take slots as well.
 * No call, no branch of our own. Everything that is known at translation time
 * goes into the definition.
 *
 * A run word is written as eight bytes, because VEX's back end makes one
 * instruction of a constant of eight, and two of one of four. The word behind it
 * becomes 0, which it is anyway until somebody takes it.
 */
#include "tool.h"

static IRSB *out;
static IRSB *in;
static IRExpr *run_end; /* where this execution's run word ends */
static IRExpr *slots;    /* address of its first slot */
static UInt slot_bytes;  /* slots used so far, in bytes */
static Int take_slots;   /* the statement that takes them from the cursor */

void *table(void *old, Int *size, Int needed, SizeT each) {
  if (*size >= needed)
    return old;
  if (old)
    VG_(free)(old);
  *size = needed * 2;
  return VG_(malloc)("chronicle.table", *size * each);
}

/* ---- IR by the word ---- */

void emit(IRStmt *s) { addStmtToIRSB(out, s); }

IRExpr *assign(IRType type, IRExpr *e) {
  IRTemp t = newIRTemp(out->tyenv, type);
  emit(IRStmt_WrTmp(t, e));
  return IRExpr_RdTmp(t);
}

IRExpr *u8(UInt v) { return IRExpr_Const(IRConst_U8(v)); }
IRExpr *u64(ULong v) { return IRExpr_Const(IRConst_U64(v)); }

IRExpr *plus(IRExpr *address, ULong offset) {
  return offset ? assign(Ity_I64, IRExpr_Binop(Iop_Add64, address, u64(offset)))
                : address;
}

IRExpr *get_cursor(UInt field) {
  return assign(Ity_I64, IRExpr_Get(CURSOR_OFFSET + field, Ity_I64));
}

static IRType type_of(IRExpr *e) { return typeOfIRExpr(out->tyenv, e); }

UInt size_of(IRType type) {
  return type == Ity_I1 ? 1 : sizeofIRType(type);
}

/* ---- logging ---- */

static void log_at(UInt offset, IRExpr *value) {
  emit(IRStmt_Store(Iend_LE, plus(slots, offset), value));
}

IRExpr *guarded(IRExpr *guard, IRExpr *address, ULong otherwise) {
  if (!guard || (guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1))
    return address;
  return assign(Ity_I64, IRExpr_ITE(guard, address, u64(otherwise)));
}

static void log_address(IRExpr *guard, IRExpr *address) {
  log_at(slot_bytes, guarded(guard, address, CH_NO_ADDRESS));
}

/* An access: its address (none if the guard is false) and bytes. */
static void log_access(IRExpr *guard, IRExpr *address, IRExpr *value) {
  log_address(guard, address);
  log_at(slot_bytes + 8, value);
  slot_bytes += CH_ACCESS_SLOTS(size_of(type_of(value))) * CH_SLOT_SIZE;
}

static Bool marks_stores(void) { return marking && !logging_loads; }

/* A store that happened if the guard says so. */
static void do_stored(IRExpr *guard, IRExpr *address, IRExpr *value) {
  if (!marks_stores())
    log_access(guard, address, value);
  else if (guard)
    mark_guarded_store(guard, address, size_of(type_of(value)));
  else
    mark_store(address);
}

static void log_value(IRExpr *value) {
  IRType type = type_of(value);
  if (type == Ity_I128) {
    log_at(slot_bytes,
           assign(Ity_I64, IRExpr_Unop(Iop_128to64, value)));
    log_at(slot_bytes + 8,
           assign(Ity_I64, IRExpr_Unop(Iop_128HIto64, value)));
  } else if (type == Ity_I1)
    log_at(slot_bytes, assign(Ity_I8, IRExpr_Unop(Iop_1Uto8, value)));
  else
    log_at(slot_bytes, value);
  slot_bytes += CH_VALUE_SLOTS(size_of(type)) * CH_SLOT_SIZE;
}

/* The widest type of at most `left` bytes, for copying state piece by piece. */
static IRType widest(UInt left) {
  return left >= 8 ? Ity_I64 : left >= 4 ? Ity_I32 : left >= 2 ? Ity_I16
                                                               : Ity_I8;
}

static void opaque(IRTemp temp, UInt reason) {
  define_opaque(temp, typeOfIRTemp(in->tyenv, temp), reason);
  log_value(IRExpr_RdTmp(temp));
}

/* ---- statements ---- */

static void do_operation(IRTemp temp, IROp op, IRExpr **operands, Int count) {
  if (define_op_known(op))
    define_op(temp, op, operands, count);
  else
    opaque(temp, define_op_reason(op));
}

/* Uses a value, so that VEX does not drop what may fault. */
static void keep(IRTemp temp) {
  IRExpr *value = IRExpr_RdTmp(temp);
  if (type_of(value) == Ity_I128)
    value = assign(Ity_I64, IRExpr_Unop(Iop_128to64, value));
  emit(IRStmt_Put(UNUSED_OFFSET, value));
}

static void do_assignment(IRStmt *s, Bool unused) {
  IRTemp temp = s->Ist.WrTmp.tmp;
  IRExpr *e = s->Ist.WrTmp.data;
  IRType type = typeOfIRTemp(in->tyenv, temp);
  emit(s);
  if (unused)
    keep(temp);
  stack_follow_assignment(temp, e);
  switch (e->tag) {
  case Iex_Get:
    define_get(temp, e->Iex.Get.offset, type);
    break;
  case Iex_GetI:
    define_get_indexed(temp, e->Iex.GetI.descr, e->Iex.GetI.ix,
                       e->Iex.GetI.bias);
    break;
  case Iex_RdTmp:
  case Iex_Const:
    define_copy(temp, type, e);
    break;
  case Iex_Load:
    define_load(temp, type, e->Iex.Load.addr);
    if (logging_loads)
      log_access(NULL, e->Iex.Load.addr, IRExpr_RdTmp(temp));
    break;
  case Iex_Unop:
    do_operation(temp, e->Iex.Unop.op, &e->Iex.Unop.arg, 1);
    break;
  case Iex_Binop: {
    IRExpr *operands[] = {e->Iex.Binop.arg1, e->Iex.Binop.arg2};
    do_operation(temp, e->Iex.Binop.op, operands, 2);
    break;
  }
  case Iex_Triop: {
    IRTriop *t = e->Iex.Triop.details;
    IRExpr *operands[] = {t->arg1, t->arg2, t->arg3};
    do_operation(temp, t->op, operands, 3);
    break;
  }
  case Iex_Qop: {
    IRQop *q = e->Iex.Qop.details;
    IRExpr *operands[] = {q->arg1, q->arg2, q->arg3, q->arg4};
    do_operation(temp, q->op, operands, 4);
    break;
  }
  case Iex_ITE:
    define_ite(temp, type, e);
    break;
  case Iex_CCall:
    if (define_helper_known(e->Iex.CCall.cee->name))
      define_call(temp, e);
    else
      opaque(temp, CH_REASON_CALL);
    break;
  default:
    ppIRStmt(s);
    VG_(tool_panic)("an expression that flat IR does not have");
  }
}

static void do_load_guarded(IRStmt *s) {
  IRLoadG *load = s->Ist.LoadG.details;
  emit(s);
  define_load_guarded(load);
  if (!logging_loads)
    return;
  IRExpr *value = IRExpr_RdTmp(load->dst);
  switch (load->cvt) {
  case ILGop_16Uto32:
  case ILGop_16Sto32:
    value = assign(Ity_I16, IRExpr_Unop(Iop_32to16, value));
    break;
  case ILGop_8Uto32:
  case ILGop_8Sto32:
    value = assign(Ity_I8, IRExpr_Unop(Iop_32to8, value));
    break;
  default:
    break;
  }
  log_access(load->guard, load->addr, value);
}

/* Logs two halves as one access. */
static void log_pair(IRExpr *guard, IRExpr *address, IRExpr *low,
                     IRExpr *high) {
  UInt size = size_of(type_of(low));
  log_address(guard, address);
  log_at(slot_bytes + 8, low);
  log_at(slot_bytes + 8 + size, high);
  slot_bytes += CH_ACCESS_SLOTS(2 * size) * CH_SLOT_SIZE;
}

static void do_cas(IRStmt *s) {
  IRCAS *cas = s->Ist.CAS.details;
  IRType type = typeOfIRTemp(in->tyenv, cas->oldLo);
  Bool both = cas->oldHi != IRTemp_INVALID;
  static const IROp equal[] = {Iop_CasCmpEQ8, Iop_CasCmpEQ16, Iop_CasCmpEQ32,
                               Iop_CasCmpEQ64};
  IROp compare = equal[type == Ity_I8 ? 0 : type == Ity_I16 ? 1
                                        : type == Ity_I32   ? 2
                                                            : 3];
  emit(s);
  define_cas(cas, type);
  IRExpr *old_low = IRExpr_RdTmp(cas->oldLo);
  IRExpr *swapped =
      assign(Ity_I1, IRExpr_Binop(compare, old_low, cas->expdLo));
  if (!both) {
    if (logging_loads)
      log_access(NULL, cas->addr, old_low);
    do_stored(swapped, cas->addr, cas->dataLo);
    return;
  }
  IRExpr *old_high = IRExpr_RdTmp(cas->oldHi);
  swapped = assign(
      Ity_I1,
      IRExpr_Binop(Iop_And1, swapped,
                   assign(Ity_I1, IRExpr_Binop(compare, old_high,
                                               cas->expdHi))));
  if (logging_loads)
    log_pair(NULL, cas->addr, old_low, old_high);
  if (marks_stores())
    mark_guarded_store(swapped, cas->addr, 2 * size_of(type));
  else
    log_pair(swapped, cas->addr, cas->dataLo, cas->dataHi);
}

/* A helper with effects: none of them is recomputed, all are logged. */
static void do_dirty(IRStmt *s) {
  IRDirty *d = s->Ist.Dirty.details;
  emit(s);
  puts_forget();
  if (d->tmp != IRTemp_INVALID)
    opaque(d->tmp, CH_REASON_HELPER);
  for (Int f = 0; f < d->nFxState; f++) {
    if (d->fxState[f].fx == Ifx_Read)
      continue;
    for (UInt r = 0; r <= d->fxState[f].nRepeats; r++) {
      UInt offset = d->fxState[f].offset + r * d->fxState[f].repeatLen;
      UInt size = d->fxState[f].size;
      define_opaque_registers(offset, size, CH_REASON_HELPER);
      for (UInt at = 0; at < size;) {
        IRType type = widest(size - at);
        log_at(slot_bytes + at, assign(type, IRExpr_Get(offset + at, type)));
        at += size_of(type);
      }
      slot_bytes += CH_VALUE_SLOTS(size) * CH_SLOT_SIZE;
    }
  }
  if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify) {
    UInt size = d->mSize;
    define_opaque_memory(d->guard, d->mAddr, size, CH_REASON_HELPER);
    log_address(d->guard, d->mAddr);
    slot_bytes += CH_SLOT_SIZE;
    /* If the helper was not called its address may point anywhere: read
       something harmless instead. */
    IRExpr *from = assign(Ity_I64, IRExpr_ITE(d->guard, d->mAddr, slots));
    for (UInt at = 0; at < size;) {
      IRType type = widest(size - at);
      log_at(slot_bytes + at,
             assign(type, IRExpr_Load(Iend_LE, type, plus(from, at))));
      at += size_of(type);
    }
    slot_bytes += CH_VALUE_SLOTS(size) * CH_SLOT_SIZE;
  }
}

/* The indexer follows calls by the stack pointer: where it is set to something
   unforeseen the value is logged. */
static void do_stack_put(IRStmt *s) {
  IRExpr *value = s->Ist.Put.data;
  UInt origin;
  if (!stack_follow_put(s->Ist.Put.offset, value, &origin))
    return;
  define_stack_pointer(origin);
  log_value(type_of(value) == Ity_I64
                ? value
                : assign(Ity_I64, IRExpr_Get(CH_OFFSET_RSP, Ity_I64)));
}

/* ---- the superblock ---- */

/* Says by which exit this execution leaves, unless it gets further. */
static void write_run_word(IRConst *exit) {
  emit(IRStmt_Store(Iend_LE, plus(run_end, -4ull), IRExpr_Const(exit)));
}

/* Takes a run word and slots from the cursor. The constants are filled in by
   the caller when they are known. */
static void allocate(IRConst *weight, IRConst *slots_size, IRConst *word) {
  UInt run_at = CURSOR_OFFSET + offsetof(Cursor, run);
  UInt store_at = CURSOR_OFFSET + offsetof(Cursor, store);
  UInt budget_at = CURSOR_OFFSET + offsetof(Cursor, budget);
  IRExpr *left = assign(
      Ity_I64,
      IRExpr_Binop(Iop_Sub64, get_cursor(offsetof(Cursor, budget)),
                   IRExpr_Const(weight)));
  emit(IRStmt_Put(budget_at, left));
  /* Without arguments: VEX computes them even if there is no call. */
  IRDirty *full = unsafeIRDirty_0_N(0, "block_full_called",
                                    VG_(fnptr_to_fnentry)(&block_full_called),
                                    mkIRExprVec_0());
  full->guard =
      assign(Ity_I1, IRExpr_Binop(Iop_CmpLT64S, left, u64(0)));
  VG_(memset)(full->fxState, 0, sizeof full->fxState);
  /* It reads every register (a snapshot) and moves the cursor. */
  full->nFxState = 2;
  full->fxState[0].fx = Ifx_Read;
  full->fxState[0].offset = 16;
  full->fxState[0].size = CH_GUEST_STATE_SIZE - 16;
  full->fxState[1].fx = Ifx_Modify;
  full->fxState[1].offset = CURSOR_OFFSET;
  full->fxState[1].size = sizeof(Cursor);
  emit(IRStmt_Dirty(full));

  run_end = plus(get_cursor(offsetof(Cursor, run)), 4);
  emit(IRStmt_Put(run_at, run_end));
  slots = get_cursor(offsetof(Cursor, store));
  take_slots = out->stmts_used + 1;
  emit(IRStmt_Put(store_at,
                  assign(Ity_I64, IRExpr_Binop(Iop_Add64, slots,
                                               IRExpr_Const(slots_size)))));
  write_run_word(word);
}

/* A PUT of the instruction pointer that only says where we are: replay knows
   that from the instructions. */
static Bool is_plain_rip(IRStmt *s, Addr instruction, UInt length) {
  if (s->Ist.Put.offset != CH_OFFSET_RIP || s->Ist.Put.data->tag != Iex_Const)
    return False;
  ULong value = s->Ist.Put.data->Iex.Const.con->Ico.U64;
  return value == instruction || value == instruction + length;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *original,
                 const VexGuestLayout *layout, const VexGuestExtents *extents,
                 const VexArchInfo *arch, IRType guest_word,
                 IRType host_word) {
  in = original;
  out = deepCopyIRSBExceptStmts(in);
  puts_begin(in);
  stores_begin(in);

  /* Valgrind's check that the code has not changed comes before the first
     instruction; if it fails the superblock was not entered. */
  Int i = 0;
  for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
    emit(in->stmts[i]);
  if (i == in->stmts_used)
    return in;

  IRConst *weight = IRConst_U64(0), *slots_size = IRConst_U64(0);
  IRConst *passed[CH_MAX_ORDINAL]; /* the run word after so many exits */
  passed[0] = IRConst_U64(0);
  slot_bytes = 0;
  UInt instructions = 0, exits = 0, length = 0;
  Addr instruction = in->stmts[i]->Ist.IMark.addr;
  Addr expected = instruction;
  define_begin(in, instruction);
  stack_follow_begin(in->tyenv);
  allocate(weight, slots_size, passed[0]);

  for (; i < in->stmts_used; i++) {
    IRStmt *s = in->stmts[i];
    switch (s->tag) {
    case Ist_NoOp:
      break;
    case Ist_AbiHint:
    case Ist_MBE:
      emit(s);
      break;
    case Ist_IMark:
      instruction = s->Ist.IMark.addr;
      length = s->Ist.IMark.len;
      tl_assert(instruction == expected && s->Ist.IMark.delta == 0);
      expected += length;
      instructions++;
      define_instruction(length);
      emit(s);
      break;
    case Ist_Put:
      if (!is_plain_rip(s, instruction, length))
        define_put(s->Ist.Put.offset, typeOfIRExpr(in->tyenv, s->Ist.Put.data),
                   s->Ist.Put.data);
      if (put_is_needed(i))
        emit(s);
      do_stack_put(s);
      break;
    case Ist_PutI: {
      IRPutI *p = s->Ist.PutI.details;
      define_put_indexed(p->descr, p->ix, p->bias, p->data);
      puts_forget();
      emit(s);
      break;
    }
    case Ist_WrTmp:
      do_assignment(s, value_is_unused(i));
      break;
    case Ist_Store: {
      IRExpr *data = s->Ist.Store.data;
      define_store(typeOfIRExpr(in->tyenv, data), NULL, s->Ist.Store.addr,
                   data);
      emit(s);
      do_stored(NULL, s->Ist.Store.addr, data);
      break;
    }
    case Ist_StoreG: {
      IRStoreG *g = s->Ist.StoreG.details;
      define_store(typeOfIRExpr(in->tyenv, g->data), g->guard, g->addr,
                   g->data);
      emit(s);
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
      exits++;
      tl_assert(exits < CH_MAX_ORDINAL);
      define_exit(s->Ist.Exit.guard, s->Ist.Exit.dst, s->Ist.Exit.jk,
                  stack_now());
      emit(s);
      passed[exits] = IRConst_U64(0);
      write_run_word(passed[exits]);
      break;
    default:
      ppIRStmt(s);
      VG_(tool_panic)("a statement that amd64 code does not have");
    }
  }
  define_next(in->next, in->jumpkind, stack_now());
  UInt slot_count = slot_bytes / CH_SLOT_SIZE;
  tl_assert(slot_count <= CH_MAX_SLOTS);

  UInt room = (slot_bytes + CH_STORE_BYTES_PER_INSTRUCTION - 1) /
              CH_STORE_BYTES_PER_INSTRUCTION;
  weight->Ico.U64 = instructions > room ? instructions : room;
  slots_size->Ico.U64 = slot_bytes;
  if (!slot_bytes)
    out->stmts[take_slots] = IRStmt_NoOp();
  UInt first_exit = define_end(instructions, exits, slot_count);
  for (UInt k = 0; k <= exits; k++)
    passed[k]->Ico.U64 = first_exit + k;
  return out;
}
