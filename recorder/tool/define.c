/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a superblock's replay program: flat VEX IR in, bytecode out
   (trace-format/Bytecode.h). */
#include "tool.h"

#define CODE_BYTES (1 << 20)
static UChar code[CODE_BYTES];
static UInt used;
static Addr base;
static IRTypeEnv *types;

/* VEX temp to ours, which are numbered as they are defined. */
static UInt *temps;
static Int temps_size;
static UInt temps_used;

static void byte(UInt value) {
  tl_assert(used < CODE_BYTES);
  code[used++] = value;
}

static void number(ULong value) {
  while (value >= 0x80) {
    byte((value & 0x7f) | 0x80);
    value >>= 7;
  }
  byte(value);
}

static ULong zigzag(Long value) {
  return ((ULong)value << 1) ^ (ULong)(value >> 63);
}

static UInt type_code(IRType type) {
  switch (type) {
  case Ity_I1:
    return CH_I1;
  case Ity_I8:
    return CH_I8;
  case Ity_I16:
    return CH_I16;
  case Ity_I32:
    return CH_I32;
  case Ity_I64:
    return CH_I64;
  case Ity_I128:
    return CH_I128;
  case Ity_F32:
    return CH_F32;
  case Ity_F64:
    return CH_F64;
  case Ity_V128:
    return CH_V128;
  case Ity_V256:
    return CH_V256;
  default:
    VG_(tool_panic)("a type that amd64 code does not have");
  }
}

static UInt jump_code(IRJumpKind kind) {
  switch (kind) {
  case Ijk_Boring:
    return CH_JUMP_PLAIN;
  case Ijk_Call:
    return CH_JUMP_CALL;
  case Ijk_Ret:
    return CH_JUMP_RETURN;
  case Ijk_Sys_syscall:
    return CH_JUMP_SYSCALL;
  default:
    return CH_JUMP_OTHER;
  }
}

static void constant(ULong value) {
  ULong near = zigzag((Long)value);
  ULong relative = zigzag((Long)(value - base));
  if (near < 1ull << 28 || (near <= relative && near < 1ull << 55))
    number(near << 2 | 1);
  else if (relative < 1ull << 55)
    number(relative << 2 | 2);
  else {
    number(3);
    for (Int i = 0; i < 8; i++)
      byte(value >> (8 * i) & 0xff);
  }
}

static Long sign_extended(ULong value, UInt bits) {
  return (Long)(value << (64 - bits)) >> (64 - bits);
}

static ULong constant_value(IRConst *c) {
  union {
    Float f;
    UInt u;
  } f32;
  union {
    Double f;
    ULong u;
  } f64;
  switch (c->tag) {
  case Ico_U1:
    return c->Ico.U1;
  case Ico_U8:
    return sign_extended(c->Ico.U8, 8);
  case Ico_U16:
    return sign_extended(c->Ico.U16, 16);
  case Ico_U32:
    return sign_extended(c->Ico.U32, 32);
  case Ico_U64:
    return c->Ico.U64;
  case Ico_F32:
    f32.f = c->Ico.F32;
    return f32.u;
  case Ico_F32i:
    return c->Ico.F32i;
  case Ico_F64:
    f64.f = c->Ico.F64;
    return f64.u;
  case Ico_F64i:
    return c->Ico.F64i;
  case Ico_V128:
    return c->Ico.V128;
  case Ico_V256:
    return c->Ico.V256;
  default:
    VG_(tool_panic)("a constant that amd64 code does not have");
  }
}

static void atom(IRExpr *e) {
  if (e->tag == Iex_RdTmp) {
    UInt temp = temps[e->Iex.RdTmp.tmp];
    tl_assert(temp);
    number((ULong)(temp - 1) << 2);
  } else {
    tl_assert(e->tag == Iex_Const);
    constant(constant_value(e->Iex.Const.con));
  }
}

/* The statement just written defines this temp. */
static void defines(IRTemp temp) { temps[temp] = ++temps_used; }

void define_begin(IRSB *in, Addr address) {
  used = 0;
  base = address;
  types = in->tyenv;
  temps_used = 0;
  temps = table(temps, &temps_size, types->types_used, sizeof *temps);
  VG_(memset)(temps, 0, types->types_used * sizeof *temps);
}

/* ---- what replay knows ---- */

static UInt op_number(IROp op) {
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

static UInt helper_number(const HChar *name) {
  UInt i = 0;
  while (i < HELPERS && VG_(strcmp)(name, helper_names[i]) != 0)
    i++;
  return i;
}

Bool define_op_known(IROp op) { return op_number(op) != 0; }
Bool define_helper_known(const HChar *name) {
  return helper_number(name) < HELPERS;
}

/* VEX has no public table of its operations' names; this one is generated from
   its header (OpNames.cmake). */
static const struct {
  IROp op;
  const HChar *name;
} op_names[] = {
#include "OpNames.inc"
};

UInt define_op_reason(IROp op) {
  static UChar named[4096];
  UInt index = op - Iop_INVALID;
  UInt reason = CH_REASON_FIRST_OP + index;
  tl_assert(index < sizeof named);
  if (!named[index] && recording) {
    named[index] = 1;
    const HChar *name = "?";
    for (UInt i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
      if (op_names[i].op == op)
        name = op_names[i].name;
    UInt length = VG_(strlen)(name);
    struct ch_ev_op_name *e = event(CH_EV_OP_NAME, sizeof *e + length);
    e->reason = reason;
    VG_(memcpy)(e + 1, name, length);
  }
  return reason;
}

/* ---- statements ---- */

void define_instruction(UInt length) {
  byte(CH_OP_INSTRUCTION);
  number(length);
}

void define_get(IRTemp temp, Int offset, IRType type) {
  byte(CH_OP_GET);
  byte(type_code(type));
  number(offset);
  defines(temp);
}

void define_put(Int offset, IRType type, IRExpr *value) {
  byte(CH_OP_PUT);
  byte(type_code(type));
  number(offset);
  atom(value);
}

static void indexed(UInt opcode, IRRegArray *array, IRExpr *index, Int bias) {
  byte(opcode);
  byte(type_code(array->elemTy));
  number(array->base);
  number(array->nElems);
  number(zigzag(bias));
  atom(index);
}

void define_get_indexed(IRTemp temp, IRRegArray *array, IRExpr *index,
                        Int bias) {
  indexed(CH_OP_GET_INDEXED, array, index, bias);
  defines(temp);
}

void define_put_indexed(IRRegArray *array, IRExpr *index, Int bias,
                        IRExpr *value) {
  indexed(CH_OP_PUT_INDEXED, array, index, bias);
  atom(value);
}

void define_copy(IRTemp temp, IRType type, IRExpr *value) {
  byte(CH_OP_COPY);
  byte(type_code(type));
  atom(value);
  defines(temp);
}

void define_load(IRTemp temp, IRType type, IRExpr *address) {
  byte(CH_OP_LOAD);
  byte(type_code(type));
  atom(address);
  defines(temp);
}

void define_store(IRType type, IRExpr *guard, IRExpr *address, IRExpr *value) {
  byte(guard ? CH_OP_STORE_GUARDED : CH_OP_STORE);
  byte(type_code(type));
  if (guard)
    atom(guard);
  atom(address);
  atom(value);
}

void define_load_guarded(IRLoadG *load) {
  static const UChar conversions[] = {
      [ILGop_IdentV128 - ILGop_INVALID] = CH_LOAD_V128,
      [ILGop_Ident64 - ILGop_INVALID] = CH_LOAD_64,
      [ILGop_Ident32 - ILGop_INVALID] = CH_LOAD_32,
      [ILGop_16Uto32 - ILGop_INVALID] = CH_LOAD_16U_32,
      [ILGop_16Sto32 - ILGop_INVALID] = CH_LOAD_16S_32,
      [ILGop_8Uto32 - ILGop_INVALID] = CH_LOAD_8U_32,
      [ILGop_8Sto32 - ILGop_INVALID] = CH_LOAD_8S_32,
  };
  byte(CH_OP_LOAD_GUARDED);
  byte(conversions[load->cvt - ILGop_INVALID]);
  atom(load->guard);
  atom(load->addr);
  atom(load->alt);
  defines(load->dst);
}

void define_cas(IRCAS *cas, IRType type) {
  Bool both = cas->oldHi != IRTemp_INVALID;
  byte(CH_OP_CAS);
  byte(type_code(type));
  byte(both);
  atom(cas->addr);
  atom(cas->expdLo);
  atom(cas->dataLo);
  if (both) {
    atom(cas->expdHi);
    atom(cas->dataHi);
  }
  defines(cas->oldLo);
  if (both)
    defines(cas->oldHi);
}

void define_ite(IRTemp temp, IRType type, IRExpr *e) {
  byte(CH_OP_ITE);
  byte(type_code(type));
  atom(e->Iex.ITE.cond);
  atom(e->Iex.ITE.iftrue);
  atom(e->Iex.ITE.iffalse);
  defines(temp);
}

void define_call(IRTemp temp, IRExpr *e) {
  UInt count = 0;
  while (e->Iex.CCall.args[count])
    count++;
  byte(CH_OP_CALL);
  byte(type_code(e->Iex.CCall.retty));
  number(helper_number(e->Iex.CCall.cee->name));
  number(count);
  for (UInt i = 0; i < count; i++)
    atom(e->Iex.CCall.args[i]);
  defines(temp);
}

void define_op(IRTemp temp, IROp op, IRExpr **operands, Int count) {
  number(op_number(op));
  for (Int i = 0; i < count; i++)
    atom(operands[i]);
  defines(temp);
}

void define_opaque(IRTemp temp, IRType type, UInt reason) {
  byte(CH_OP_OPAQUE);
  byte(type_code(type));
  number(reason);
  defines(temp);
}

void define_opaque_registers(UInt offset, UInt size, UInt reason) {
  byte(CH_OP_OPAQUE_REGISTERS);
  number(offset);
  number(size);
  number(reason);
}

void define_opaque_memory(IRExpr *guard, IRExpr *address, UInt size,
                          UInt reason) {
  byte(CH_OP_OPAQUE_MEMORY);
  atom(guard);
  atom(address);
  number(size);
  number(reason);
}

void define_exit(IRExpr *guard, IRConst *target, IRJumpKind kind,
                 StackPointer at) {
  byte(CH_OP_EXIT);
  atom(guard);
  constant(constant_value(target));
  byte(jump_code(kind));
  number(at.base);
  number(zigzag(at.delta));
}

void define_next(IRExpr *target, IRJumpKind kind, StackPointer at) {
  byte(CH_OP_NEXT);
  atom(target);
  byte(jump_code(kind));
  number(at.base);
  number(zigzag(at.delta));
}

void define_stack_pointer(UInt origin) {
  byte(CH_OP_STACK_POINTER);
  byte(origin);
}

/* ---- the same definition twice is one superblock ----
   Valgrind throws translations away (its cache is full, code was unmapped) and
   makes them again; most come out the same. Definitions are remembered by a
   128-bit hash, in an open table that doubles. */
typedef struct {
  ULong hash[2];
  UInt first_exit; /* 0: the place is free */
} Known;
static Known *known;
static ULong known_size, known_used;

static void hash_bytes(const UChar *p, UInt n, ULong hash[2]) {
  ULong a = 0x9e3779b97f4a7c15ull ^ n, b = 0xc2b2ae3d27d4eb4full;
  while (n) {
    ULong word = 0;
    UInt k = n < 8 ? n : 8;
    VG_(memcpy)(&word, p, k);
    p += k;
    n -= k;
    a = (a ^ word) * 0xff51afd7ed558ccdull;
    a ^= a >> 32;
    b = (b + word) * 0xc4ceb9fe1a85ec53ull;
    b ^= b >> 29;
  }
  hash[0] = a ^ (b << 1);
  hash[1] = b ^ a;
}

static Known *find_known(const ULong hash[2]) {
  ULong i = hash[0] & (known_size - 1);
  while (known[i].first_exit &&
         (known[i].hash[0] != hash[0] || known[i].hash[1] != hash[1]))
    i = (i + 1) & (known_size - 1);
  return &known[i];
}

static void grow_known(void) {
  Known *old = known;
  ULong old_size = known_size;
  known_size = old_size ? old_size * 2 : 1 << 14;
  known = VG_(calloc)("chronicle.known", known_size, sizeof *known);
  for (ULong i = 0; i < old_size; i++)
    if (old[i].first_exit)
      *find_known(old[i].hash) = old[i];
  if (old)
    VG_(free)(old);
}

UInt define_end(UInt instructions, UInt exits, UInt slots) {
  static UInt next_id = 1, next_exit = 1;
  UChar head[64];
  UInt head_used = 0;
  for (Int i = 0; i < 8; i++)
    head[head_used++] = (ULong)base >> (8 * i) & 0xff;
  ULong numbers[] = {instructions, exits, temps_used, slots,
                     logging_loads ? CH_DEF_LOGS_LOADS
                     : marking     ? CH_DEF_MARKS_STORES
                                   : 0};
  for (UInt i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    ULong v = numbers[i];
    for (; v >= 0x80; v >>= 7)
      head[head_used++] = (v & 0x7f) | 0x80;
    head[head_used++] = v;
  }

  ULong hash[2], head_hash[2];
  hash_bytes(code, used, hash);
  hash_bytes(head, head_used, head_hash);
  hash[0] ^= head_hash[1];
  hash[1] += head_hash[0];
  if (2 * known_used >= known_size)
    grow_known();
  Known *entry = find_known(hash);
  if (entry->first_exit)
    return entry->first_exit;
  if (next_exit > CH_MAX_EXIT - CH_MAX_ORDINAL || !recording) {
    stop_recording(CH_END_LIMIT);
    return 1;
  }
  entry->hash[0] = hash[0];
  entry->hash[1] = hash[1];
  entry->first_exit = next_exit;
  next_exit += exits + 1;
  known_used++;
  struct ch_ev_define *e = event(CH_EV_DEFINE, sizeof *e + head_used + used);
  e->id = next_id++;
  e->first_exit = entry->first_exit;
  VG_(memcpy)(e + 1, head, head_used);
  VG_(memcpy)((UChar *)(e + 1) + head_used, code, used);
  return entry->first_exit;
}
