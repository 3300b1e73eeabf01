/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/switch_points.h"
#include "recorder/tool/chaos/accesses.h"
#include "recorder/tool/code/ir_builder.h"
#include "recorder/tool/code/places.h"
#include "recorder/tool/core/growing_array.h"

/* A frame pointer is not further than this from the stack pointer. */
#define MOST_FRAME_BYTES (1 << 20)

static CH_GROWING_ARRAY(Bool) is_stack_pointer; /* by temp */

/* RBP may be any other register. What it is now, when the code is about to run,
   tells. */
static Bool rbp_points_to_frame(void) {
  const ThreadId tid = VG_(get_running_tid)();
  return tid != VG_INVALID_THREADID &&
         VG_(get_FP)(tid) - VG_(get_SP)(tid) < MOST_FRAME_BYTES;
}

static void find_stack_pointers(const IRSB *in) {
  const Bool with_rbp = rbp_points_to_frame();
  ch_array_reserve(&is_stack_pointer, in->tyenv->types_used);
  for (Int i = 0; i < in->tyenv->types_used; i++)
    is_stack_pointer.items[i] = False;
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt *s = in->stmts[i];
    if (s->tag != Ist_WrTmp || s->Ist.WrTmp.data->tag != Iex_Get)
      continue;
    const Int offset = s->Ist.WrTmp.data->Iex.Get.offset;
    is_stack_pointer.items[s->Ist.WrTmp.tmp] =
        offset == CH_OFFSET_RSP || (offset == CH_OFFSET_RBP && with_rbp);
  }
}

/* The address of an access that may be one to shared memory, or NULL. */
static IRExpr *shared_access(const IRStmt *s) {
  IRExpr *address = NULL;
  switch (s->tag) {
  case Ist_WrTmp:
    if (s->Ist.WrTmp.data->tag == Iex_Load)
      address = s->Ist.WrTmp.data->Iex.Load.addr;
    break;
  case Ist_LoadG:
    address = s->Ist.LoadG.details->addr;
    break;
  case Ist_Store:
    address = s->Ist.Store.addr;
    break;
  case Ist_StoreG:
    address = s->Ist.StoreG.details->addr;
    break;
  case Ist_CAS:
    address = s->Ist.CAS.details->addr;
    break;
  default:
    break;
  }
  if (!address)
    return NULL;
  const struct ch_place at = ch_place_of(address);
  return at.base != IRTemp_INVALID && is_stack_pointer.items[at.base] ? NULL
                                                                      : address;
}

void ch_switch_points_begin(IRSB *in) {
  find_stack_pointers(in);
  ch_places_begin(in);
  Bool shared = False;
  for (Int i = 0; i < in->stmts_used; i++) {
    const IRStmt *s = in->stmts[i];
    if (shared && s->tag == Ist_IMark) {
      in->stmts_used = i;
      in->next = ch_ir_u64(s->Ist.IMark.addr);
      in->jumpkind = Ijk_Boring;
      return;
    }
    shared |= shared_access(s) != NULL;
  }
}

void ch_switch_points_add(const IRStmt *s) {
  IRExpr *address = shared_access(s);
  if (!address)
    return;
  const Bool reads = s->tag == Ist_WrTmp || s->tag == Ist_LoadG;
  ch_ir_emit(IRStmt_Dirty(unsafeIRDirty_0_N(
      0, reads ? "ch_chaos_load" : "ch_chaos_store",
      VG_(fnptr_to_fnentry)(reads ? ch_chaos_load : ch_chaos_store),
      mkIRExprVec_1(address))));
}
