/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows the stack pointer through a superblock while it is translated. Mostly
 * it changes by constants, so that its value at each exit is known up to its
 * value at entry; where it is set to something else (leave, longjmp, alloca) the
 * value must be logged, and is a new base.
 */
#include "tool.h"

/* What is known of a temp. */
typedef struct {
  enum { OTHER, STACK /* is value */, FROM_STACK /* computed from it */ } kind;
  StackPointer value;
} Origin;

static Origin *origins;
static Int origins_size;
static IRTypeEnv *types;
static StackPointer now;
static UInt bases;

void stack_follow_begin(IRTypeEnv *env) {
  types = env;
  origins = table(origins, &origins_size, env->types_used, sizeof *origins);
  VG_(memset)(origins, 0, env->types_used * sizeof *origins);
  now.base = bases = 0;
  now.delta = 0;
}

StackPointer stack_now(void) { return now; }

static Origin origin_of(IRExpr *e) {
  static const Origin other;
  return e->tag == Iex_RdTmp ? origins[e->Iex.RdTmp.tmp] : other;
}

static Origin origin_of_binop(IROp op, IRExpr *a, IRExpr *b) {
  Origin from = {OTHER};
  if (op == Iop_Add64 && a->tag == Iex_Const) {
    IRExpr *swap = a;
    a = b;
    b = swap;
  }
  if ((op == Iop_Add64 || op == Iop_Sub64) && b->tag == Iex_Const &&
      origin_of(a).kind == STACK) {
    Long k = (Long)b->Iex.Const.con->Ico.U64;
    from = origin_of(a);
    from.value.delta += op == Iop_Add64 ? k : -k;
  } else if (origin_of(a).kind != OTHER || origin_of(b).kind != OTHER)
    from.kind = FROM_STACK;
  return from;
}

void stack_follow_assignment(IRTemp temp, IRExpr *e) {
  switch (e->tag) {
  case Iex_Get:
    if (e->Iex.Get.offset == CH_OFFSET_RSP && e->Iex.Get.ty == Ity_I64) {
      origins[temp].kind = STACK;
      origins[temp].value = now;
    }
    break;
  case Iex_RdTmp:
    origins[temp] = origin_of(e);
    break;
  case Iex_Unop:
    if (origin_of(e->Iex.Unop.arg).kind != OTHER)
      origins[temp].kind = FROM_STACK;
    break;
  case Iex_Binop:
    origins[temp] = origin_of_binop(e->Iex.Binop.op, e->Iex.Binop.arg1,
                                    e->Iex.Binop.arg2);
    break;
  default:
    break;
  }
}

Bool stack_follow_put(Int offset, IRExpr *value, UInt *origin) {
  Int size = sizeofIRType(typeOfIRExpr(types, value));
  if (offset + size <= CH_OFFSET_RSP || offset >= CH_OFFSET_RSP + 8)
    return False;
  Origin from = origin_of(value);
  if (size == 8 && from.kind == STACK) {
    now = from.value;
    return False;
  }
  *origin = from.kind == OTHER ? CH_STACK_ELSEWHERE : CH_STACK_ITSELF;
  now.base = ++bases;
  now.delta = 0;
  return True;
}
