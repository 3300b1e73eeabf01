/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/watches.h"
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/code/places.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/stream/ring.h"

/* A test that this superblock has made already. */
struct test {
  struct ch_place at;
  IRExpr *flagged;
};
static CH_GROWING_ARRAY(struct test) tests;

void ch_watches_begin(void) { tests.used = 0; }

/* VEX's back end makes one instruction of a load from a value plus a constant
   of 31 bits. */
CH_STATIC_ASSERT(sizeof(void *) == 8, "amd64");
static IRExpr *test_flag(IRExpr *address) {
  tl_assert((Addr)ch_watch_flags < 1ul << 31);
  IRExpr *page = ch_ir_binop(Ity_I64, Iop_Shr64, address, ch_ir_u8(12));
  IRExpr *flag =
      ch_ir_binop(Ity_I64, Iop_And64, page, ch_ir_u64(CH_WATCH_FLAGS - 1));
  IRExpr *there = ch_ir_plus(flag, (Addr)ch_watch_flags);
  return ch_ir_binop(Ity_I1, Iop_CmpNE8,
                     ch_ir_assign(Ity_I8, IRExpr_Load(Iend_LE, Ity_I8, there)),
                     ch_ir_u8(0));
}

/* Whether memory near the address may be watched. */
static IRExpr *flagged(IRExpr *address, UInt size) {
  const struct ch_place at = ch_place_of(address);
  for (UInt i = 0; i < tests.used; i++) {
    const struct ch_place other = tests.items[i].at;
    const Long distance = at.offset - other.offset;
    if (at.base == other.base && distance >= -(Long)CH_WATCH_REACH &&
        distance + (Long)size <= (Long)CH_WATCH_REACH)
      return tests.items[i].flagged;
  }
  struct test t = {at, test_flag(address)};
  ch_array_append(&tests, t);
  return t.flagged;
}

static void effect(IRDirty *call, IREffect fx, UInt offset, UInt size) {
  const Int n = call->nFxState++;
  VG_(memset)(&call->fxState[n], 0, sizeof call->fxState[n]);
  call->fxState[n].fx = fx;
  call->fxState[n].offset = offset;
  call->fxState[n].size = size;
}

/* Emits the call of a function of memory/watch.c. */
static void call_if(IRExpr *condition, IRExpr *guard, const HChar *name,
                    void *function, IRExpr **arguments) {
  IRDirty *call =
      unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);
  call->guard =
      guard ? ch_ir_binop(Ity_I1, Iop_And1, condition, guard) : condition;
  call->nFxState = 0;
  effect(call, Ifx_Read, CH_OFFSET_RIP, 8);
  /* With what follows it, where the value is. */
  effect(call, Ifx_Modify, CH_CURSOR_OFFSET, sizeof(struct ch_cursor) + 32);
  ch_ir_emit(IRStmt_Dirty(call));
}

static void access_of(enum ch_watch_access access, IRExpr *guard,
                      IRExpr *address, UInt size) {
  call_if(flagged(address, size), guard, "ch_watch_helper",
          ch_watch_helper(access, size), mkIRExprVec_1(address));
}

void ch_watches_access(enum ch_watch_access access, IRExpr *guard,
                       IRExpr *address, IRExpr *value) {
  ch_ir_emit(IRStmt_Put(CH_UNUSED_OFFSET, value));
  access_of(access, guard, address, ch_ir_size_of(ch_ir_type_of(value)));
}

void ch_watches_access_pair(enum ch_watch_access access, IRExpr *guard,
                            IRExpr *address, IRExpr *low, IRExpr *high) {
  const UInt size = ch_ir_size_of(ch_ir_type_of(low));
  ch_ir_emit(IRStmt_Put(CH_UNUSED_OFFSET, low));
  ch_ir_emit(IRStmt_Put(CH_UNUSED_OFFSET + size, high));
  access_of(access, guard, address, 2 * size);
}

void ch_watches_written(IRExpr *guard, IRExpr *address, IRExpr *logged,
                        UInt size) {
  call_if(flagged(address, size), guard, "ch_watch_written", &ch_watch_written,
          mkIRExprVec_3(address, logged, ch_ir_u64(size)));
}
