/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which PUTs of a superblock are worth their instruction. Valgrind is asked for
 * all of them (main.c), because replay programs have all of them; generated
 * code does without those that nobody can see and those that change nothing.
 *
 * A PUT is dead if the same bytes are PUT again before anything can look: a GET
 * of them, an exit, a helper, or a fault. At a fault a handler sees all
 * registers, and may repair what was wrong and go on; without one (signals.c)
 * the fault is the end. Replay knows the registers then, if it is told the
 * instruction; the stack pointer is what Valgrind decides by whether the stack
 * has to grow. So only these two are kept exact until there is a handler.
 *
 * What only computes a value for dead PUTs is dropped by VEX in turn. A load or
 * a division must not be, because it may fault: where nobody uses it, we do.
 */
#include "tool.h"

static IRSB *in;
/* By statement: a PUT that is dead; an assignment to keep by using it. */
static UChar *verdict;
static Int verdict_size;

/* ---- PUTs that change nothing ---- */

/* What the words of the state are known to hold: constants, of which the flags'
   thunk has the same ones again and again. */
#define KNOWN_WORDS (CH_GUEST_STATE_SIZE / 8)
static IRConst *known[KNOWN_WORDS];

static void forget(Int offset, Int size) {
  for (Int w = offset / 8; w <= (offset + size - 1) / 8 && w < KNOWN_WORDS; w++)
    known[w] = NULL;
}

void puts_forget(void) { forget(0, CH_GUEST_STATE_SIZE); }

/* True if the word holds that constant already. Keeps account of it. */
static Bool put_again(IRStmt *s) {
  Int offset = s->Ist.Put.offset;
  IRExpr *data = s->Ist.Put.data;
  IRType type = typeOfIRExpr(in->tyenv, data);
  if (type != Ity_I64 || offset % 8 || data->tag != Iex_Const) {
    forget(offset, size_of(type));
    return False;
  }
  IRConst *before = known[offset / 8];
  known[offset / 8] = data->Iex.Const.con;
  return before && before->Ico.U64 == data->Iex.Const.con->Ico.U64;
}

/* ---- temps that are used ---- */

static UChar *used; /* by temp */
static Int used_size;

static void use(IRExpr *e) {
  if (e && e->tag == Iex_RdTmp)
    used[e->Iex.RdTmp.tmp] = 1;
}

static void use_all(IRExpr **e) {
  while (*e)
    use(*e++);
}

static void use_operands(IRExpr *e) {
  switch (e->tag) {
  case Iex_RdTmp:
    use(e);
    break;
  case Iex_GetI:
    use(e->Iex.GetI.ix);
    break;
  case Iex_Load:
    use(e->Iex.Load.addr);
    break;
  case Iex_Unop:
    use(e->Iex.Unop.arg);
    break;
  case Iex_Binop:
    use(e->Iex.Binop.arg1);
    use(e->Iex.Binop.arg2);
    break;
  case Iex_Triop: {
    IRTriop *t = e->Iex.Triop.details;
    use(t->arg1);
    use(t->arg2);
    use(t->arg3);
    break;
  }
  case Iex_Qop: {
    IRQop *q = e->Iex.Qop.details;
    use(q->arg1);
    use(q->arg2);
    use(q->arg3);
    use(q->arg4);
    break;
  }
  case Iex_ITE:
    use(e->Iex.ITE.cond);
    use(e->Iex.ITE.iftrue);
    use(e->Iex.ITE.iffalse);
    break;
  case Iex_CCall:
    use_all(e->Iex.CCall.args);
    break;
  default:
    break;
  }
}

/* What a statement uses that is neither a PUT nor an assignment. */
static void use_in(IRStmt *s) {
  switch (s->tag) {
  case Ist_PutI:
    use(s->Ist.PutI.details->ix);
    use(s->Ist.PutI.details->data);
    break;
  case Ist_Store:
    use(s->Ist.Store.addr);
    use(s->Ist.Store.data);
    break;
  case Ist_StoreG:
    use(s->Ist.StoreG.details->addr);
    use(s->Ist.StoreG.details->data);
    use(s->Ist.StoreG.details->guard);
    break;
  case Ist_LoadG:
    use(s->Ist.LoadG.details->addr);
    use(s->Ist.LoadG.details->alt);
    use(s->Ist.LoadG.details->guard);
    break;
  case Ist_CAS: {
    IRCAS *c = s->Ist.CAS.details;
    use(c->addr);
    use(c->expdLo);
    use(c->expdHi);
    use(c->dataLo);
    use(c->dataHi);
    break;
  }
  case Ist_Dirty:
    use(s->Ist.Dirty.details->guard);
    use(s->Ist.Dirty.details->mAddr);
    use_all(s->Ist.Dirty.details->args);
    break;
  case Ist_Exit:
    use(s->Ist.Exit.guard);
    break;
  default:
    break;
  }
}

/* ---- dead PUTs ---- */

static Bool can_fault(IRStmt *s) {
  switch (s->tag) {
  case Ist_Store:
  case Ist_StoreG:
  case Ist_LoadG:
  case Ist_CAS:
    return True;
  case Ist_WrTmp: {
    IRExpr *e = s->Ist.WrTmp.data;
    if (e->tag == Iex_Load)
      return True;
    if (e->tag == Iex_Binop)
      switch (e->Iex.Binop.op) {
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
    return False;
  }
  default:
    return False;
  }
}

/* Bytes of the state that are PUT before anybody looks. */
static UChar overwritten[CH_GUEST_STATE_SIZE + 64];

/* Also makes its bytes overwritten, for what comes before. */
static Bool is_dead(IRStmt *put) {
  Int offset = put->Ist.Put.offset;
  Int size = size_of(typeOfIRExpr(in->tyenv, put->Ist.Put.data));
  /* A part of RSP: do_stack_put() reads the whole. */
  Bool dead = offset + size <= CH_OFFSET_RSP || offset >= CH_OFFSET_RSP + 8 ||
              size == 8;
  for (Int k = 0; k < size; k++)
    dead &= overwritten[offset + k];
  VG_(memset)(overwritten + offset, 1, size);
  return dead;
}

/* A statement other than a PUT looks at registers. The instruction pointer is
   not for an exit to see: one that is taken sets it. */
static void look(IRStmt *s) {
  IRExpr *value = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;
  if (value && value->tag == Iex_Get)
    VG_(memset)(overwritten + value->Iex.Get.offset, 0,
                size_of(value->Iex.Get.ty));
  else if (s->tag == Ist_Exit) {
    UChar rip = overwritten[CH_OFFSET_RIP];
    VG_(memset)(overwritten, 0, sizeof overwritten);
    VG_(memset)(overwritten + CH_OFFSET_RIP, rip, 8);
  } else if (can_fault(s) && !faults_handled) {
    VG_(memset)(overwritten + CH_OFFSET_RIP, 0, 8);
    VG_(memset)(overwritten + CH_OFFSET_RSP, 0, 8);
  } else if (s->tag == Ist_PutI || s->tag == Ist_Dirty || can_fault(s) ||
             (value && value->tag == Iex_GetI))
    VG_(memset)(overwritten, 0, sizeof overwritten);
}

/* One pass from the end. */
static void judge(void) {
  verdict = table(verdict, &verdict_size, in->stmts_used, 1);
  used = table(used, &used_size, in->tyenv->types_used, 1);
  VG_(memset)(used, 0, in->tyenv->types_used);
  use(in->next);
  VG_(memset)(overwritten, 0, sizeof overwritten);
  /* The end of the superblock sets the instruction pointer. */
  VG_(memset)(overwritten + CH_OFFSET_RIP, 1, 8);
  for (Int i = in->stmts_used - 1; i >= 0; i--) {
    IRStmt *s = in->stmts[i];
    verdict[i] = 0;
    switch (s->tag) {
    case Ist_Put:
      verdict[i] = is_dead(s);
      if (!verdict[i])
        use(s->Ist.Put.data);
      break;
    case Ist_WrTmp:
      look(s);
      verdict[i] = can_fault(s) && !used[s->Ist.WrTmp.tmp];
      if (verdict[i] || used[s->Ist.WrTmp.tmp])
        use_operands(s->Ist.WrTmp.data);
      break;
    default:
      look(s);
      use_in(s);
    }
  }
}

/* ---- both ---- */

void puts_begin(IRSB *superblock) {
  in = superblock;
  judge();
  puts_forget();
}

Bool put_is_needed(Int statement) {
  return !verdict[statement] && !put_again(in->stmts[statement]);
}

Bool value_is_unused(Int statement) { return verdict[statement]; }
