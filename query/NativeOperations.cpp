// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations have native code, and of what kind.

#include "query/ProgramCompiler.h"

namespace chronicle {

bool ProgramCompiler::computation(Operation O, bool Immediate,
                                  const ReplayOp &Op) {
  // The lowest Size bytes, extended by zeros.
  auto Narrow = [&](unsigned Size) {
    load(RAX, Op.A, Size);
    return result(Op.Dst);
  };
  switch (O) {
#define CH_NATIVE(Bits, Size)                                                  \
  case Operation::Op_Add##Bits:                                                \
    return arithmetic(Arithmetic::Add, Size, Immediate, Op);                   \
  case Operation::Op_Sub##Bits:                                                \
    return arithmetic(Arithmetic::Sub, Size, Immediate, Op);                   \
  case Operation::Op_And##Bits:                                                \
    return arithmetic(Arithmetic::And, Size, Immediate, Op);                   \
  case Operation::Op_Or##Bits:                                                 \
    return arithmetic(Arithmetic::Or, Size, Immediate, Op);                    \
  case Operation::Op_Xor##Bits:                                                \
    return arithmetic(Arithmetic::Xor, Size, Immediate, Op);                   \
  case Operation::Op_Shl##Bits:                                                \
    return shift(Shift::Left, Size, Immediate, Op);                            \
  case Operation::Op_Shr##Bits:                                                \
    return shift(Shift::Right, Size, Immediate, Op);                           \
  case Operation::Op_Sar##Bits:                                                \
    return shift(Shift::Signed, Size, Immediate, Op);                          \
  case Operation::Op_CmpEQ##Bits:                                              \
  case Operation::Op_CasCmpEQ##Bits:                                           \
    return comparison(Condition::Equal, Size, Immediate, Op);                  \
  case Operation::Op_CmpNE##Bits:                                              \
  case Operation::Op_CasCmpNE##Bits:                                           \
    return comparison(Condition::NotEqual, Size, Immediate, Op);               \
  case Operation::Op_Not##Bits:                                                \
    load(RAX, Op.A, Size);                                                     \
    withRegister(0xf7, Size == 8, 2, RAX);                                     \
    return result(Op.Dst, Size);
    CH_NATIVE(8, 1)
    CH_NATIVE(16, 2)
    CH_NATIVE(32, 4)
    CH_NATIVE(64, 8)
#undef CH_NATIVE
#define CH_NATIVE(Bits, Size)                                                  \
  case Operation::Op_CmpLT##Bits##S:                                           \
    return comparison(Condition::Less, Size, Immediate, Op);                   \
  case Operation::Op_CmpLE##Bits##S:                                           \
    return comparison(Condition::LessOrEqual, Size, Immediate, Op);            \
  case Operation::Op_CmpLT##Bits##U:                                           \
    return comparison(Condition::Below, Size, Immediate, Op);                  \
  case Operation::Op_CmpLE##Bits##U:                                           \
    return comparison(Condition::BelowOrEqual, Size, Immediate, Op);           \
  case Operation::Op_Mul##Bits:                                                \
    return multiplication(Size, Immediate, Op);
    CH_NATIVE(32, 4)
    CH_NATIVE(64, 8)
#undef CH_NATIVE
  case Operation::Op_And1:
    return arithmetic(Arithmetic::And, 1, Immediate, Op);
  case Operation::Op_Or1:
    return arithmetic(Arithmetic::Or, 1, Immediate, Op);
  case Operation::Op_Not1:
    load(RAX, Op.A, 1);
    bytes({0x83, 0xf0, 1}); // xor eax, 1
    return result(Op.Dst);
  case Operation::Op_64to1:
  case Operation::Op_32to1:
    load(RAX, Op.A, 1);
    bytes({0x83, 0xe0, 1}); // and eax, 1
    return result(Op.Dst);
  case Operation::Op_1Uto8:
  case Operation::Op_1Uto32:
  case Operation::Op_1Uto64:
  case Operation::Op_8Uto16:
  case Operation::Op_8Uto32:
  case Operation::Op_8Uto64:
  case Operation::Op_64to8:
  case Operation::Op_32to8:
    return Narrow(1);
  case Operation::Op_16Uto32:
  case Operation::Op_16Uto64:
  case Operation::Op_64to16:
    return Narrow(2);
  case Operation::Op_32Uto64:
  case Operation::Op_64to32:
    return Narrow(4);
  case Operation::Op_8Sto16:
    return signExtension(0xbe0f, false, 2, Op);
  case Operation::Op_8Sto32:
    return signExtension(0xbe0f, false, 4, Op);
  case Operation::Op_8Sto64:
    return signExtension(0xbe0f, true, 8, Op);
  case Operation::Op_16Sto32:
    return signExtension(0xbf0f, false, 4, Op);
  case Operation::Op_16Sto64:
    return signExtension(0xbf0f, true, 8, Op);
  case Operation::Op_32Sto64:
    return signExtension(0x63, true, 8, Op);
  case Operation::Op_8HLto16:
    return join(1, Immediate, Op);
  case Operation::Op_16HLto32:
    return join(2, Immediate, Op);
  case Operation::Op_32HLto64:
    return join(4, Immediate, Op);
  case Operation::Op_64HLto128:
  case Operation::Op_64HLtoV128:
    return join(8, Immediate, Op);
  case Operation::Op_64UtoV128:
  case Operation::Op_32UtoV128:
    load(RAX, Op.A, O == Operation::Op_64UtoV128 ? 8 : 4);
    storeConstant(Op.Dst + 8, 0, 8);
    return result(Op.Dst);
  case Operation::Op_AndV128:
    return vectors(0xdb, 16, Op);
  case Operation::Op_OrV128:
    return vectors(0xeb, 16, Op);
  case Operation::Op_XorV128:
    return vectors(0xef, 16, Op);
  case Operation::Op_CmpEQ8x16:
    return vectors(0x74, 16, Op);
  case Operation::Op_CmpEQ8x32:
    return vectors(0x74, 32, Op);
  case Operation::Op_Sub8x16:
    return vectors(0xf8, 16, Op);
  case Operation::Op_Min8Ux16:
    return vectors(0xda, 16, Op);
  case Operation::Op_GetMSBs8x16:
    loadVector(0, Op.A);
    spoil();
    bytes({0x66, 0x0f, 0xd7, 0xc0}); // pmovmskb eax, xmm0
    return result(Op.Dst);
  case Operation::Op_Ctz64:
    load(RCX, Op.A, 8);
    spoil();
    constant(RDX, 64);
    bytes({0x48, 0x0f, 0xbc, 0xc1}); // bsf rax, rcx: zero only tells the flag
    bytes({0x48, 0x0f, 0x44, 0xc2}); // cmove rax, rdx
    return result(Op.Dst);
  default:
    return false;
  }
}

bool ProgramCompiler::operation(const ReplayOp &Op) {
  const auto C = static_cast<Code>(Op.Code);
  if (C >= Code::First) {
    const unsigned N = Op.Code - static_cast<unsigned>(Code::First);
    return computation(static_cast<Operation>(N / 2), N & 1, Op);
  }
  switch (C) {
#define CH_NATIVE(Size)                                                        \
  case Code::Const##Size:                                                      \
    storeConstant(Op.Dst, Op.Imm, Size);                                       \
    return true;                                                               \
  case Code::Ite##Size:                                                        \
    return choice(Size, Op);
    CH_NATIVE(1)
    CH_NATIVE(2)
    CH_NATIVE(4)
    CH_NATIVE(8)
#undef CH_NATIVE
#define CH_NATIVE(Size)                                                        \
  case Code::Copy##Size:                                                       \
    return copy(Size, Op);                                                     \
  case Code::Load##Size:                                                       \
    return loadMemory(Size, false, Op);                                        \
  case Code::Store##Size:                                                      \
    return storeMemory(Size, false, Op);                                       \
  case Code::LoadIndexed##Size:                                                \
    return loadMemory(Size, true, Op);                                         \
  case Code::StoreIndexed##Size:                                               \
    return storeMemory(Size, true, Op);
    CH_NATIVE(1)
    CH_NATIVE(2)
    CH_NATIVE(4)
    CH_NATIVE(8)
    CH_NATIVE(16)
#undef CH_NATIVE
  case Code::Copy32:
    return copy(32, Op);
  case Code::Load32:
    return loadMemory(32, false, Op);
  case Code::Call:
    return call(Op);
  case Code::Exit:
  case Code::ExitComputed:
    testByte(Op.A);
    detourIf(Condition::NotEqual, &Op);
    return true;
  case Code::Next:
    return leave(Op);
  case Code::CopyTwice:
    load(RCX, Op.A, 8);
    load(RDX, Op.C, 8);
    store(Op.Dst, RCX, 8);
    store(Op.B, RDX, 8);
    return true;
  case Code::CopyConst:
    load(RCX, Op.A, 8);
    store(Op.Dst, RCX, 8);
    storeConstant(Op.B, Op.Imm, 8);
    return true;
  case Code::ConstTwice:
    storeConstant(Op.Dst, Op.Imm & 0xffffffff, 8);
    storeConstant(Op.A, Op.Imm >> 32, 8);
    return true;
  case Code::Clear16:
    return clear(Op);
  case Code::SetFlags:
    return setFlags(Op);
#define CH_NATIVE(Name, Size, Which)                                           \
  case Code::Exit_##Name:                                                      \
    return exitIf(Condition::Which, Size, false, Op);                          \
  case Code::ExitImmediate_##Name:                                             \
    return exitIf(Condition::Which, Size, true, Op);
    CH_NATIVE(CmpEQ8, 1, Equal)
    CH_NATIVE(CmpEQ16, 2, Equal)
    CH_NATIVE(CmpEQ32, 4, Equal)
    CH_NATIVE(CmpEQ64, 8, Equal)
    CH_NATIVE(CmpNE8, 1, NotEqual)
    CH_NATIVE(CmpNE16, 2, NotEqual)
    CH_NATIVE(CmpNE32, 4, NotEqual)
    CH_NATIVE(CmpNE64, 8, NotEqual)
    CH_NATIVE(CmpLT32S, 4, Less)
    CH_NATIVE(CmpLT64S, 8, Less)
    CH_NATIVE(CmpLE32S, 4, LessOrEqual)
    CH_NATIVE(CmpLE64S, 8, LessOrEqual)
    CH_NATIVE(CmpLT32U, 4, Below)
    CH_NATIVE(CmpLT64U, 8, Below)
    CH_NATIVE(CmpLE32U, 4, BelowOrEqual)
    CH_NATIVE(CmpLE64U, 8, BelowOrEqual)
#undef CH_NATIVE
  default:
    return false;
  }
}

} // namespace chronicle
