/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/code/definition.h"
#include "recorder/tool/code/ir_operands.h"
#include "recorder/tool/code/operations.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/memory/load_logging.h"
#include "recorder/tool/memory/marks.h"

#define CODE_BYTES (1 << 20)
static UChar code[CODE_BYTES];
static UInt code_used;
static Addr base; /* the superblock's address */
static IRTypeEnv *types;

/* The number that the bytecode has for a VEX temp plus 1; 0: not assigned yet.
   The bytecode numbers temps as they are assigned. */
static CH_GROWING_ARRAY(UInt) temps;
static UInt temps_assigned;

/* ---- numbers ---- */

static void byte(UInt value) {
  tl_assert(code_used < CODE_BYTES);
  code[code_used++] = value;
}

static void number(ULong value) {
  for (; value >= 0x80; value >>= 7)
    byte((value & 0x7f) | 0x80);
  byte(value);
}

static void eight_bytes(ULong value) {
  for (Int i = 0; i < 8; i++)
    byte(value >> (8 * i) & 0xff);
}

static ULong zigzag(Long value) {
  return ((ULong)value << 1) ^ (ULong)(value >> 63);
}

/* ---- codes ---- */

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
    VG_(tool_panic)("unexpected IR type in amd64 code");
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

static UInt conversion_code(IRLoadGOp conversion) {
  switch (conversion) {
  case ILGop_IdentV128:
    return CH_LOAD_V128;
  case ILGop_Ident64:
    return CH_LOAD_64;
  case ILGop_Ident32:
    return CH_LOAD_32;
  case ILGop_16Uto32:
    return CH_LOAD_16U_32;
  case ILGop_16Sto32:
    return CH_LOAD_16S_32;
  case ILGop_8Uto32:
    return CH_LOAD_8U_32;
  case ILGop_8Sto32:
    return CH_LOAD_8S_32;
  default:
    VG_(tool_panic)("unexpected guarded load in amd64 code");
  }
}

/* ---- atoms ---- */

/* The shortest of the three forms that Bytecode.h has. */
static void constant(ULong value) {
  ULong near = zigzag((Long)value);
  ULong relative = zigzag((Long)(value - base));
  if (near < 1ull << 28 || (near <= relative && near < 1ull << 55))
    number(near << 2 | 1);
  else if (relative < 1ull << 55)
    number(relative << 2 | 2);
  else {
    number(3);
    eight_bytes(value);
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
    VG_(tool_panic)("unexpected IR constant in amd64 code");
  }
}

static void atom(IRExpr *e) {
  if (e->tag == Iex_RdTmp) {
    UInt temp = temps.items[e->Iex.RdTmp.tmp];
    tl_assert(temp);
    number((ULong)(temp - 1) << 2);
  } else {
    tl_assert(e->tag == Iex_Const);
    constant(constant_value(e->Iex.Const.con));
  }
}

/* The statement just written assigns this temp. */
static void assigns(IRTemp temp) { temps.items[temp] = ++temps_assigned; }

/* ---- statements ---- */

void ch_define_begin(IRSB *in, Addr address) {
  code_used = 0;
  base = address;
  types = in->tyenv;
  ch_array_reserve(&temps, types->types_used);
  temps_assigned = 0;
  VG_(memset)(temps.items, 0, types->types_used * sizeof *temps.items);
}

static void opcode(enum ch_opcode op, IRType type) {
  byte(op);
  byte(type_code(type));
}

void ch_define_instruction(UInt length) {
  byte(CH_OP_INSTRUCTION);
  number(length);
}

static void register_array(enum ch_opcode op, const IRRegArray *array,
                           Int bias) {
  opcode(op, array->elemTy);
  number(array->base);
  number(array->nElems);
  number(zigzag(bias));
}

static void call(IRExpr *e) {
  UInt count = 0;
  while (e->Iex.CCall.args[count])
    count++;
  opcode(CH_OP_CALL, e->Iex.CCall.retty);
  number(ch_helper_number(e));
  number(count);
}

void ch_define_assignment(IRTemp temp, IRExpr *e) {
  IRType type = typeOfIRTemp(types, temp);
  switch (e->tag) {
  case Iex_Get:
    opcode(CH_OP_GET, type);
    number(e->Iex.Get.offset);
    break;
  case Iex_GetI:
    register_array(CH_OP_GET_INDEXED, e->Iex.GetI.descr, e->Iex.GetI.bias);
    break;
  case Iex_RdTmp:
  case Iex_Const:
    opcode(CH_OP_COPY, type);
    break;
  case Iex_Load:
    opcode(CH_OP_LOAD, type);
    break;
  case Iex_Unop:
  case Iex_Binop:
  case Iex_Triop:
  case Iex_Qop:
    number(ch_operation_opcode(e));
    break;
  case Iex_ITE:
    opcode(CH_OP_ITE, type);
    break;
  case Iex_CCall:
    call(e);
    break;
  default:
    ppIRExpr(e);
    VG_(tool_panic)("unexpected expression in flat IR");
  }
  ch_ir_visit_expression(e, atom);
  assigns(temp);
}

void ch_define_statement(IRStmt *s) {
  switch (s->tag) {
  case Ist_Put:
    opcode(CH_OP_PUT, typeOfIRExpr(types, s->Ist.Put.data));
    number(s->Ist.Put.offset);
    break;
  case Ist_PutI:
    register_array(CH_OP_PUT_INDEXED, s->Ist.PutI.details->descr,
                   s->Ist.PutI.details->bias);
    break;
  case Ist_Store:
    opcode(CH_OP_STORE, typeOfIRExpr(types, s->Ist.Store.data));
    break;
  case Ist_StoreG:
    opcode(CH_OP_STORE_GUARDED,
           typeOfIRExpr(types, s->Ist.StoreG.details->data));
    break;
  case Ist_LoadG:
    byte(CH_OP_LOAD_GUARDED);
    byte(conversion_code(s->Ist.LoadG.details->cvt));
    break;
  case Ist_CAS:
    opcode(CH_OP_CAS, typeOfIRTemp(types, s->Ist.CAS.details->oldLo));
    byte(s->Ist.CAS.details->oldHi != IRTemp_INVALID);
    break;
  default:
    ppIRStmt(s);
    VG_(tool_panic)("unexpected statement in amd64 code");
  }
  ch_ir_visit_statement(s, atom);
  if (s->tag == Ist_LoadG)
    assigns(s->Ist.LoadG.details->dst);
  if (s->tag == Ist_CAS) {
    assigns(s->Ist.CAS.details->oldLo);
    if (s->Ist.CAS.details->oldHi != IRTemp_INVALID)
      assigns(s->Ist.CAS.details->oldHi);
  }
}

void ch_define_opaque(IRTemp temp, UInt reason) {
  opcode(CH_OP_OPAQUE, typeOfIRTemp(types, temp));
  number(reason);
  assigns(temp);
}

void ch_define_opaque_registers(UInt offset, UInt size, UInt reason) {
  byte(CH_OP_OPAQUE_REGISTERS);
  number(offset);
  number(size);
  number(reason);
}

void ch_define_opaque_memory(IRExpr *guard, IRExpr *address, UInt size,
                             UInt reason) {
  byte(CH_OP_OPAQUE_MEMORY);
  atom(guard);
  atom(address);
  number(size);
  number(reason);
}

void ch_define_stack_pointer(enum ch_stack_origin origin) {
  byte(CH_OP_STACK_POINTER);
  byte(origin);
}

static void jump(IRJumpKind kind, struct ch_stack_pointer at) {
  byte(jump_code(kind));
  number(at.base);
  number(zigzag(at.delta));
}

void ch_define_exit(IRStmt *s, struct ch_stack_pointer at) {
  byte(CH_OP_EXIT);
  atom(s->Ist.Exit.guard);
  constant(constant_value(s->Ist.Exit.dst));
  jump(s->Ist.Exit.jk, at);
}

void ch_define_next(IRExpr *target, IRJumpKind kind,
                    struct ch_stack_pointer at) {
  byte(CH_OP_NEXT);
  atom(target);
  jump(kind, at);
}

/* ---- the end ---- */

static UInt flags(void) {
  return ch_logging_loads ? CH_DEF_LOGS_LOADS
         : ch_marking     ? CH_DEF_MARKS_STORES
                          : 0;
}

static struct ch_hash hash_of(const UChar *p, UInt n) {
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
  struct ch_hash hash = {a ^ (b << 1), b ^ a};
  return hash;
}

struct ch_definition ch_define_end(UInt instructions, UInt exits, UInt slots) {
  /* The head of the definition is written behind its body, because it is known
     only now. */
  const UInt body_size = code_used;
  eight_bytes(base);
  number(instructions);
  number(exits);
  number(temps_assigned);
  number(slots);
  number(flags());
  const UInt head_size = code_used - body_size;
  struct ch_definition d = {code + body_size, head_size, code, body_size};
  d.hash = hash_of(d.body, body_size);
  const struct ch_hash head_hash = hash_of(d.head, head_size);
  d.hash.low ^= head_hash.high;
  d.hash.high += head_hash.low;
  return d;
}
