/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/operations.h"
#include "recorder/tool/stream/recording.h"
#include "recorder/tool/stream/ring.h"

/* The operation of an expression; Iop_INVALID if it is not one. */
static IROp operation_of(const IRExpr *e) {
  switch (e->tag) {
  case Iex_Unop:
    return e->Iex.Unop.op;
  case Iex_Binop:
    return e->Iex.Binop.op;
  case Iex_Triop:
    return e->Iex.Triop.details->op;
  case Iex_Qop:
    return e->Iex.Qop.details->op;
  default:
    return Iop_INVALID;
  }
}

/* 0 if replay does not know the operation. */
static UInt opcode_of(IROp op) {
  enum {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) NUMBER_##Name,
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
  };
  switch (op) {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  case Iop_##Name:                                                             \
    return CH_OP_FIRST + NUMBER_##Name;
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
  default:
    return 0;
  }
}

static const HChar *const helper_names[] = {
#define CH_HELPER(name) #name,
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
};
#define HELPERS (sizeof helper_names / sizeof helper_names[0])

/* HELPERS if replay does not know the helper. */
static UInt helper_of(const HChar *name) {
  UInt i = 0;
  while (i < HELPERS && VG_(strcmp)(name, helper_names[i]) != 0)
    i++;
  return i;
}

Bool ch_replay_computes(const IRExpr *e) {
  if (e->tag == Iex_CCall)
    return helper_of(e->Iex.CCall.cee->name) < HELPERS;
  const IROp op = operation_of(e);
  return op == Iop_INVALID || opcode_of(op) != 0;
}

UInt ch_operation_opcode(const IRExpr *e) { return opcode_of(operation_of(e)); }

UInt ch_helper_number(const IRExpr *call) {
  return helper_of(call->Iex.CCall.cee->name);
}

UInt ch_opaque_reason(const IRExpr *e) {
  return e->tag == Iex_CCall
             ? CH_REASON_CALL
             : CH_REASON_FIRST_OP + (operation_of(e) - Iop_INVALID);
}

/* VEX has no public table of the names of its operations. This one is generated
   from its header (OpNames.cmake). */
static const struct {
  IROp op;
  const HChar *name;
} op_names[] = {
#include "OpNames.inc"
};

static const HChar *name_of(IROp op) {
  for (UInt i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
    if (op_names[i].op == op)
      return op_names[i].name;
  return "?";
}

static UChar logged[4096]; /* by number of the operation */

void ch_log_reason_name(UInt reason) {
  if (reason < CH_REASON_FIRST_OP || !ch_recording)
    return;
  const UInt index = reason - CH_REASON_FIRST_OP;
  tl_assert(index < sizeof logged);
  if (logged[index])
    return;
  logged[index] = 1;
  const HChar *name = name_of(Iop_INVALID + index);
  UInt length = VG_(strlen)(name);
  struct ch_ev_op_name *event = ch_event(CH_EV_OP_NAME, sizeof *event + length);
  event->reason = reason;
  VG_(memcpy)(event + 1, name, length);
}

void ch_log_reason_names_again(void) {
  for (UInt i = 0; i < sizeof logged; i++)
    if (logged[i]) {
      logged[i] = 0;
      ch_log_reason_name(CH_REASON_FIRST_OP + i);
    }
}
