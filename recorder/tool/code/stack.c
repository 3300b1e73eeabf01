/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/stack.h"
#include "recorder/tool/core/growing_array.h"

/* Where the value of a temp came from. */
struct origin {
  enum {
    OTHER,
    STACK,     /* it is `value` */
    FROM_STACK /* it was computed from the stack pointer in another way */
  } kind;
  struct ch_stack_pointer value;
};

static CH_GROWING_ARRAY(struct origin) origins; /* by temp */
static IRTypeEnv *types;
static struct ch_stack_pointer now;
static UInt bases;

void ch_stack_begin(IRTypeEnv *env) {
  types = env;
  ch_array_reserve(&origins, env->types_used);
  VG_(memset)(origins.items, 0, env->types_used * sizeof *origins.items);
  now.base = bases = 0;
  now.delta = 0;
}

struct ch_stack_pointer ch_stack_now(void) { return now; }

static struct origin origin_of(IRExpr *e) {
  static const struct origin other;
  return e->tag == Iex_RdTmp ? origins.items[e->Iex.RdTmp.tmp] : other;
}

static struct origin origin_of_binop(IROp op, IRExpr *a, IRExpr *b) {
  struct origin from = {OTHER};
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

void ch_stack_assign(IRTemp temp, IRExpr *e) {
  struct origin *to = &origins.items[temp];
  switch (e->tag) {
  case Iex_Get:
    if (e->Iex.Get.offset == CH_OFFSET_RSP && e->Iex.Get.ty == Ity_I64) {
      to->kind = STACK;
      to->value = now;
    }
    break;
  case Iex_RdTmp:
    *to = origin_of(e);
    break;
  case Iex_Unop:
    if (origin_of(e->Iex.Unop.arg).kind != OTHER)
      to->kind = FROM_STACK;
    break;
  case Iex_Binop:
    *to =
        origin_of_binop(e->Iex.Binop.op, e->Iex.Binop.arg1, e->Iex.Binop.arg2);
    break;
  default:
    break;
  }
}

Bool ch_stack_put(Int offset, IRExpr *value, enum ch_stack_origin *origin) {
  Int size = sizeofIRType(typeOfIRExpr(types, value));
  if (offset + size <= CH_OFFSET_RSP || offset >= CH_OFFSET_RSP + 8)
    return False;
  struct origin from = origin_of(value);
  if (size == 8 && from.kind == STACK) {
    now = from.value;
    return False;
  }
  *origin = from.kind == OTHER ? CH_STACK_ELSEWHERE : CH_STACK_ITSELF;
  now.base = ++bases;
  now.delta = 0;
  return True;
}
