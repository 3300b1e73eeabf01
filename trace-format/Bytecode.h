/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The replay program of a superblock: its flat VEX IR in a bytecode of our own.
 * Written by the recorder (C), read by the indexer and the replayer (C++).
 *
 *   definition := address:u64le instructions:v exits:v temps:v slots:v
 *                 flags:v statement*
 *   v          := unsigned LEB128
 *   statement  := opcode:v operands (see ch_opcode)
 *   atom       := v, by its low two bits:
 *                 0  temp number v >> 2
 *                 1  constant zigzag(v >> 2), cut to the type's width
 *                 2  constant superblock address + zigzag(v >> 2)
 *                 3  constant in the 8 bytes that follow, little-endian
 *
 * Temps are numbered in the order in which statements define them; a statement
 * that defines one does not name it. A constant of type V128 or V256 is a mask:
 * bit i stands for byte i, all ones or all zeros. PUTs of the instruction
 * pointer that only say where the next instruction is are left out: RIP at an
 * instruction is the instruction's address.
 */
#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_H

enum ch_type {
  CH_I1 = 0, /* one byte, 0 or 1 */
  CH_I8 = 1,
  CH_I16 = 2,
  CH_I32 = 3,
  CH_I64 = 4,
  CH_I128 = 5,
  CH_F32 = 6,
  CH_F64 = 7,
  CH_V128 = 8,
  CH_V256 = 9,
  CH_TYPE_COUNT = 10
};

#define CH_DEF_LOGS_LOADS 1   /* every load has a slot */
#define CH_DEF_MARKS_STORES 2 /* stores have none: see CH_EV_STORED */

/* "Defines ty" means: makes the next temp, of type ty. ty is one byte. The
   shapes are in bytecode/Statements.def too, from which readers are made. */
enum ch_opcode {
  /* length:v. The next instruction; the first is at the definition's address,
     each other where the one before ends. */
  CH_OP_INSTRUCTION = 1,
  /* ty offset:v. Defines ty from the guest state. */
  CH_OP_GET = 2,
  /* ty offset:v atom. */
  CH_OP_PUT = 3,
  /* ty base:v elements:v bias:zigzag-v index:atom. Defines ty from the element
     (index + bias) mod elements of the array at base. */
  CH_OP_GET_INDEXED = 4,
  /* ty base:v elements:v bias:zigzag-v index:atom value:atom. */
  CH_OP_PUT_INDEXED = 5,
  /* ty address:atom. Defines ty. One access slot if loads are logged. */
  CH_OP_LOAD = 6,
  /* ty address:atom value:atom. Access slots, unless stores are marked. */
  CH_OP_STORE = 7,
  /* ty guard:atom address:atom value:atom. As a store. */
  CH_OP_STORE_GUARDED = 8,
  /* conversion:byte(ch_load_conversion) guard:atom address:atom other:atom.
     Defines the conversion's result. Access slots if loads are logged. */
  CH_OP_LOAD_GUARDED = 9,
  /* ty double:byte address expected-low data-low [expected-high data-high].
     Defines the old low value [and the old high one], of type ty. Access slots
     of ty's width (twice that if double) for the memory afterwards, unless
     stores are marked. If loads are logged, access slots for the old value
     before that. */
  CH_OP_CAS = 10,
  /* ty condition:atom then:atom else:atom. Defines ty. */
  CH_OP_ITE = 11,
  /* ty helper:v count:v atom*. Defines ty by a helper of ReplayHelpers.def. */
  CH_OP_CALL = 12,
  /* ty reason:v. Defines ty. Value slots. */
  CH_OP_OPAQUE = 13,
  /* offset:v size:v reason:v. Guest-state bytes a helper wrote. Value slots. */
  CH_OP_OPAQUE_REGISTERS = 14,
  /* guard:atom address:atom size:v reason:v. Memory a helper wrote: a slot for
     the address, then value slots. */
  CH_OP_OPAQUE_MEMORY = 15,
  /* guard:atom target:atom jump:byte base:v delta:zigzag-v. If taken, the stack
     pointer is base + delta; base 0 is what it was at entry, base n the value
     of the n-th CH_OP_STACK_POINTER. */
  CH_OP_EXIT = 16,
  /* target:atom jump:byte base:v delta:zigzag-v. The last statement. */
  CH_OP_NEXT = 17,
  /* ty atom. Defines ty. */
  CH_OP_COPY = 18,
  /* origin:byte(ch_stack_origin). The stack pointer was just set to something
     other than itself plus a constant: a value slot of 8 bytes holds it. The
     indexer follows calls by it; replay does not need it. */
  CH_OP_STACK_POINTER = 19,
  /* CH_OP_FIRST + n, atom * arity: operation n of ReplayOps.def. Defines its
     result type. */
  CH_OP_FIRST = 32
};

enum ch_load_conversion {
  CH_LOAD_V128 = 0, /* 16 bytes */
  CH_LOAD_64 = 1,
  CH_LOAD_32 = 2,
  CH_LOAD_16U_32 = 3,
  CH_LOAD_16S_32 = 4,
  CH_LOAD_8U_32 = 5,
  CH_LOAD_8S_32 = 6,
};

/* Where an exit goes, as far as readers care. */
enum ch_jump {
  CH_JUMP_PLAIN = 0,
  CH_JUMP_CALL = 1,
  CH_JUMP_RETURN = 2,
  CH_JUMP_SYSCALL = 3,
  CH_JUMP_OTHER = 4, /* traps, yields, client requests, cache flushes */
};

/* Where a new stack pointer came from. */
enum ch_stack_origin {
  CH_STACK_ELSEWHERE =
      0,               /* a register or memory: leave, longjmp, swapcontext */
  CH_STACK_ITSELF = 1, /* computed from the old one: alloca, alignment */
};

/* Reasons of opaque values. Below CH_REASON_FIRST_OP fixed; above, the VEX
   operation CH_REASON_FIRST_OP + n, named by a CH_EV_OP_NAME record. */
enum ch_opaque_reason {
  CH_REASON_HELPER = 1, /* a dirty helper's result or state: cpuid, rdtsc ... */
  CH_REASON_CALL = 2,   /* a clean helper not in ReplayHelpers.def */
  CH_REASON_OTHER = 3,
  CH_REASON_FIRST_OP = 16
};

#endif
