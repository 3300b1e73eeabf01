/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/slots.h"
#include "recorder/tool/code/ir_builder.h"

static IRExpr *slots; /* address of the first */
static UInt used;     /* in bytes */

void ch_slots_begin(IRExpr *address) {
  slots = address;
  used = 0;
}

UInt ch_slots_bytes(void) { return used; }

static void log_at(UInt offset, IRExpr *value) {
  ch_ir_store(ch_ir_plus(slots, offset), value);
}

static void log_address(IRExpr *guard, IRExpr *address) {
  log_at(used, ch_ir_guarded(guard, address, CH_NO_ADDRESS));
}

void ch_slots_log_access(IRExpr *guard, IRExpr *address, IRExpr *value) {
  log_address(guard, address);
  log_at(used + 8, value);
  used += CH_ACCESS_SLOTS(ch_ir_size_of(ch_ir_type_of(value))) * CH_SLOT_SIZE;
}

void ch_slots_log_pair(IRExpr *guard, IRExpr *address, IRExpr *low,
                       IRExpr *high) {
  UInt size = ch_ir_size_of(ch_ir_type_of(low));
  log_address(guard, address);
  log_at(used + 8, low);
  log_at(used + 8 + size, high);
  used += CH_ACCESS_SLOTS(2 * size) * CH_SLOT_SIZE;
}

void ch_slots_log_value(IRExpr *value) {
  IRType type = ch_ir_type_of(value);
  if (type == Ity_I128) {
    log_at(used, ch_ir_unop(Ity_I64, Iop_128to64, value));
    log_at(used + 8, ch_ir_unop(Ity_I64, Iop_128HIto64, value));
  } else if (type == Ity_I1)
    log_at(used, ch_ir_unop(Ity_I8, Iop_1Uto8, value));
  else
    log_at(used, value);
  used += CH_VALUE_SLOTS(ch_ir_size_of(type)) * CH_SLOT_SIZE;
}

/* The widest type of at most `left` bytes, for copying piece by piece. */
static IRType widest(UInt left) {
  return left >= 8   ? Ity_I64
         : left >= 4 ? Ity_I32
         : left >= 2 ? Ity_I16
                     : Ity_I8;
}

void ch_slots_log_registers(UInt offset, UInt size) {
  for (UInt at = 0; at < size;) {
    IRType type = widest(size - at);
    log_at(used + at, ch_ir_get(offset + at, type));
    at += ch_ir_size_of(type);
  }
  used += CH_VALUE_SLOTS(size) * CH_SLOT_SIZE;
}

IRExpr *ch_slots_log_memory(IRExpr *guard, IRExpr *address, UInt size) {
  log_address(guard, address);
  used += CH_SLOT_SIZE;
  IRExpr *bytes = ch_ir_plus(slots, used);
  /* If the guard is false the address may point anywhere, so something harmless
     is read instead. */
  IRExpr *from = ch_ir_assign(Ity_I64, IRExpr_ITE(guard, address, slots));
  for (UInt at = 0; at < size;) {
    IRType type = widest(size - at);
    IRExpr *load = IRExpr_Load(Iend_LE, type, ch_ir_plus(from, at));
    log_at(used + at, ch_ir_assign(type, load));
    at += ch_ir_size_of(type);
  }
  used += CH_VALUE_SLOTS(size) * CH_SLOT_SIZE;
  return bytes;
}
