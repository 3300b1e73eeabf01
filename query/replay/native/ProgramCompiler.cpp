// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/native/ProgramCompiler.h"
#include "query/replay/native/OperationWriter.h"

using namespace llvm;
using Xbyak::CodeGenerator;

namespace chronicle::native {

using program::Code;
using program::Operation;
using program::ReplayOp;

/// Writes whole programs: all operations in order, then the detours, then
/// copies of the stretches of operations that the interpreter does.
class ProgramCompiler::Writer : OperationWriter {
public:
  Writer(MutableArrayRef<uint8_t> Room, bool MarksReads)
      : OperationWriter(Room, MarksReads) {}
  const uint8_t *compile(ArrayRef<ReplayOp> Ops);

private:
  // These write an operation and return true, or write nothing and return
  // false: then the operation is left to the interpreter.
  bool operation(const ReplayOp &Op);
  bool movement(Code C, const ReplayOp &Op);
  bool fusedExit(Code C, const ReplayOp &Op);
  bool integer(Operation O, bool Immediate, const ReplayOp &Op);
  bool conversion(Operation O, const ReplayOp &Op);
  bool joining(Operation O, const ReplayOp &Op);
  bool vectorOperation(Operation O, const ReplayOp &Op);

  /// Operations in a row that are left to the interpreter. Their copy has an
  /// end behind it, where the interpreter stops.
  struct Stretch {
    Xbyak::Label Copy;
    ArrayRef<ReplayOp> Ops;
  };
  void addToStretch(ArrayRef<ReplayOp> Ops, bool Continues);
  void writeStretches();
  void writeOp(const ReplayOp &Op) {
    db(reinterpret_cast<const uint8_t *>(&Op), sizeof(Op));
  }

  static constexpr Arithmetic Add{&CodeGenerator::add, &CodeGenerator::add,
                                  true};
  static constexpr Arithmetic Sub{&CodeGenerator::sub, &CodeGenerator::sub,
                                  false};
  static constexpr Arithmetic And{&CodeGenerator::and_, &CodeGenerator::and_,
                                  true};
  static constexpr Arithmetic Or{&CodeGenerator::or_, &CodeGenerator::or_,
                                 true};
  static constexpr Arithmetic Xor{&CodeGenerator::xor_, &CodeGenerator::xor_,
                                  true};
  static constexpr Shift Left{&CodeGenerator::shl, &CodeGenerator::shl, false};
  static constexpr Shift Right{&CodeGenerator::shr, &CodeGenerator::shr, false};
  static constexpr Shift SignedRight{&CodeGenerator::sar, &CodeGenerator::sar,
                                     true};
  static constexpr Condition Equal{&CodeGenerator::sete, &CodeGenerator::je};
  static constexpr Condition NotEqual{&CodeGenerator::setne,
                                      &CodeGenerator::jne};
  static constexpr Condition Below{&CodeGenerator::setb, &CodeGenerator::jb};
  static constexpr Condition BelowOrEqual{&CodeGenerator::setbe,
                                          &CodeGenerator::jbe};
  static constexpr Condition Less{&CodeGenerator::setl, &CodeGenerator::jl};
  static constexpr Condition LessOrEqual{&CodeGenerator::setle,
                                         &CodeGenerator::jle};

  SmallVector<Stretch, 4> Stretches;
};

// Tables of which function writes which operation, or code of the interpreter.
#define CH_OPERATION(Name, Write)                                              \
  case Operation::Op_##Name:                                                   \
    Write;                                                                     \
    return true
#define CH_CODE(Name, Write)                                                   \
  case Code::Name:                                                             \
    Write;                                                                     \
    return true

bool ProgramCompiler::Writer::integer(Operation O, bool Immediate,
                                      const ReplayOp &Op) {
  switch (O) {
#define CH_SIZE(Bits, Size)                                                    \
  CH_OPERATION(Add##Bits, arithmetic(Add, Size, Immediate, Op));               \
  CH_OPERATION(Sub##Bits, arithmetic(Sub, Size, Immediate, Op));               \
  CH_OPERATION(And##Bits, arithmetic(And, Size, Immediate, Op));               \
  CH_OPERATION(Or##Bits, arithmetic(Or, Size, Immediate, Op));                 \
  CH_OPERATION(Xor##Bits, arithmetic(Xor, Size, Immediate, Op));               \
  CH_OPERATION(Not##Bits, complement(Size, Op));                               \
  CH_OPERATION(Shl##Bits, shift(Left, Size, Immediate, Op));                   \
  CH_OPERATION(Shr##Bits, shift(Right, Size, Immediate, Op));                  \
  CH_OPERATION(Sar##Bits, shift(SignedRight, Size, Immediate, Op));            \
  CH_OPERATION(CmpEQ##Bits, comparison(Equal, Size, Immediate, Op));           \
  CH_OPERATION(CmpNE##Bits, comparison(NotEqual, Size, Immediate, Op));        \
  CH_OPERATION(CasCmpEQ##Bits, comparison(Equal, Size, Immediate, Op));        \
  CH_OPERATION(CasCmpNE##Bits, comparison(NotEqual, Size, Immediate, Op))
    CH_SIZE(8, 1);
    CH_SIZE(16, 2);
    CH_SIZE(32, 4);
    CH_SIZE(64, 8);
#undef CH_SIZE
#define CH_SIZE(Bits, Size)                                                    \
  CH_OPERATION(CmpLT##Bits##S, comparison(Less, Size, Immediate, Op));         \
  CH_OPERATION(CmpLE##Bits##S, comparison(LessOrEqual, Size, Immediate, Op));  \
  CH_OPERATION(CmpLT##Bits##U, comparison(Below, Size, Immediate, Op));        \
  CH_OPERATION(CmpLE##Bits##U, comparison(BelowOrEqual, Size, Immediate, Op)); \
  CH_OPERATION(Mul##Bits, multiplication(Size, Immediate, Op))
    CH_SIZE(32, 4);
    CH_SIZE(64, 8);
#undef CH_SIZE
    CH_OPERATION(And1, arithmetic(And, 1, Immediate, Op));
    CH_OPERATION(Or1, arithmetic(Or, 1, Immediate, Op));
    CH_OPERATION(Not1, complementBit(Op));
    CH_OPERATION(Ctz64, trailingZeros(Op));
  default:
    return false;
  }
}

bool ProgramCompiler::Writer::conversion(Operation O, const ReplayOp &Op) {
  switch (O) {
    CH_OPERATION(64to1, lowestBit(Op));
    CH_OPERATION(32to1, lowestBit(Op));
    CH_OPERATION(1Uto8, zeroExtension(1, Op));
    CH_OPERATION(1Uto32, zeroExtension(1, Op));
    CH_OPERATION(1Uto64, zeroExtension(1, Op));
    CH_OPERATION(8Uto16, zeroExtension(1, Op));
    CH_OPERATION(8Uto32, zeroExtension(1, Op));
    CH_OPERATION(8Uto64, zeroExtension(1, Op));
    CH_OPERATION(64to8, zeroExtension(1, Op));
    CH_OPERATION(32to8, zeroExtension(1, Op));
    CH_OPERATION(16Uto32, zeroExtension(2, Op));
    CH_OPERATION(16Uto64, zeroExtension(2, Op));
    CH_OPERATION(64to16, zeroExtension(2, Op));
    CH_OPERATION(32Uto64, zeroExtension(4, Op));
    CH_OPERATION(64to32, zeroExtension(4, Op));
    CH_OPERATION(8Sto16, signExtension(1, 2, Op));
    CH_OPERATION(8Sto32, signExtension(1, 4, Op));
    CH_OPERATION(8Sto64, signExtension(1, 8, Op));
    CH_OPERATION(16Sto32, signExtension(2, 4, Op));
    CH_OPERATION(16Sto64, signExtension(2, 8, Op));
    CH_OPERATION(32Sto64, signExtension(4, 8, Op));
  default:
    return false;
  }
}

bool ProgramCompiler::Writer::vectorOperation(Operation O, const ReplayOp &Op) {
  switch (O) {
    CH_OPERATION(32UtoV128, vectorOfInteger(4, Op));
    CH_OPERATION(64UtoV128, vectorOfInteger(8, Op));
    CH_OPERATION(AndV128, vector(&CodeGenerator::pand, 16, Op));
    CH_OPERATION(OrV128, vector(&CodeGenerator::por, 16, Op));
    CH_OPERATION(XorV128, vector(&CodeGenerator::pxor, 16, Op));
    CH_OPERATION(CmpEQ8x16, vector(&CodeGenerator::pcmpeqb, 16, Op));
    CH_OPERATION(CmpEQ8x32, vector(&CodeGenerator::pcmpeqb, 32, Op));
    CH_OPERATION(Sub8x16, vector(&CodeGenerator::psubb, 16, Op));
    CH_OPERATION(Min8Ux16, vector(&CodeGenerator::pminub, 16, Op));
    CH_OPERATION(GetMSBs8x16, highestBits(Op));
  default:
    return false;
  }
}

bool ProgramCompiler::Writer::joining(Operation O, const ReplayOp &Op) {
  switch (O) {
    CH_OPERATION(8HLto16, join(1, Op));
    CH_OPERATION(16HLto32, join(2, Op));
    CH_OPERATION(32HLto64, join(4, Op));
    CH_OPERATION(64HLto128, join(8, Op));
    CH_OPERATION(64HLtoV128, join(8, Op));
  default:
    return false;
  }
}

bool ProgramCompiler::Writer::fusedExit(Code C, const ReplayOp &Op) {
  switch (C) {
#define CH_EXIT(Name, Size, Which)                                             \
  CH_CODE(Exit_##Name, exitIf(Which, Size, false, Op));                        \
  CH_CODE(ExitImmediate_##Name, exitIf(Which, Size, true, Op))
    CH_EXIT(CmpEQ8, 1, Equal);
    CH_EXIT(CmpEQ16, 2, Equal);
    CH_EXIT(CmpEQ32, 4, Equal);
    CH_EXIT(CmpEQ64, 8, Equal);
    CH_EXIT(CmpNE8, 1, NotEqual);
    CH_EXIT(CmpNE16, 2, NotEqual);
    CH_EXIT(CmpNE32, 4, NotEqual);
    CH_EXIT(CmpNE64, 8, NotEqual);
    CH_EXIT(CmpLT32S, 4, Less);
    CH_EXIT(CmpLT64S, 8, Less);
    CH_EXIT(CmpLE32S, 4, LessOrEqual);
    CH_EXIT(CmpLE64S, 8, LessOrEqual);
    CH_EXIT(CmpLT32U, 4, Below);
    CH_EXIT(CmpLT64U, 8, Below);
    CH_EXIT(CmpLE32U, 4, BelowOrEqual);
    CH_EXIT(CmpLE64U, 8, BelowOrEqual);
#undef CH_EXIT
  default:
    return false;
  }
}

bool ProgramCompiler::Writer::movement(Code C, const ReplayOp &Op) {
  switch (C) {
#define CH_SIZE(Size)                                                          \
  CH_CODE(Const##Size, storeConstant(Op.Dst, Op.Imm, Size));                   \
  CH_CODE(Ite##Size, choice(Size, Op))
    CH_SIZE(1);
    CH_SIZE(2);
    CH_SIZE(4);
    CH_SIZE(8);
#undef CH_SIZE
#define CH_SIZE(Size)                                                          \
  CH_CODE(Copy##Size, copy(Size, Op));                                         \
  CH_CODE(Load##Size, loadMemory(Size, false, Op));                            \
  CH_CODE(Store##Size, storeMemory(Size, false, Op));                          \
  CH_CODE(LoadIndexed##Size, loadMemory(Size, true, Op));                      \
  CH_CODE(StoreIndexed##Size, storeMemory(Size, true, Op))
    CH_SIZE(1);
    CH_SIZE(2);
    CH_SIZE(4);
    CH_SIZE(8);
    CH_SIZE(16);
#undef CH_SIZE
    CH_CODE(Copy32, copy(32, Op));
    CH_CODE(Load32, loadMemory(32, false, Op));
    CH_CODE(CopyTwice, copyTwice(Op));
    CH_CODE(CopyConst, copyAndConstant(Op));
    CH_CODE(ConstTwice, twoConstants(Op));
    CH_CODE(SetFlags, setFlags(Op));
    CH_CODE(Exit, exitIfGuard(Op));
    CH_CODE(ExitComputed, exitIfGuard(Op));
    CH_CODE(Next, leave(Op));
  default:
    return false;
  }
}
#undef CH_OPERATION
#undef CH_CODE

bool ProgramCompiler::Writer::operation(const ReplayOp &Op) {
  const auto C = static_cast<Code>(Op.Code);
  if (C < Code::First) {
    if (C == Code::Call)
      return helperCall(Op);
    if (C == Code::Clear16)
      return clear(Op);
    return movement(C, Op) || fusedExit(C, Op);
  }
  const unsigned N = Op.Code - static_cast<unsigned>(Code::First);
  const auto O = static_cast<Operation>(N / 2);
  const bool Immediate = N & 1;
  return integer(O, Immediate, Op) || conversion(O, Op) ||
         vectorOperation(O, Op) || (!Immediate && joining(O, Op));
}

/// Ops are one operation. Continues: the operation before it was also left to
/// the interpreter.
void ProgramCompiler::Writer::addToStretch(ArrayRef<ReplayOp> Ops,
                                           bool Continues) {
  if (Continues) {
    ArrayRef<ReplayOp> &Last = Stretches.back().Ops;
    Last = ArrayRef(Last.begin(), Ops.end());
    return;
  }
  Stretches.push_back({Xbyak::Label(), Ops});
  lea(rsi, ptr[rip + Stretches.back().Copy]);
  interpretStretch();
}

void ProgramCompiler::Writer::writeStretches() {
  ReplayOp End{};
  End.Code = static_cast<uint16_t>(Code::Instruction);
  for (Stretch &S : Stretches) {
    align(alignof(ReplayOp));
    L(S.Copy);
    for (const ReplayOp &Op : S.Ops)
      writeOp(Op);
    writeOp(End);
  }
  Stretches.clear();
}

const uint8_t *ProgramCompiler::Writer::compile(ArrayRef<ReplayOp> Ops) {
  align(16);
  const size_t Start = getSize();
  prologue();
  bool WasNative = true;
  while (!Ops.empty()) {
    const size_t Count =
        program::takesNext(static_cast<Code>(Ops[0].Code)) ? 2 : 1;
    const bool IsNative = operation(Ops[0]);
    if (!IsNative)
      addToStretch(Ops.take_front(Count), /*Continues=*/!WasNative);
    WasNative = IsNative;
    Ops = Ops.drop_front(Count);
  }
  writeDetours();
  writeStretches();
  const int Failed = Xbyak::GetError();
  if (!Failed)
    return getCode() + Start;
  assert(Failed == Xbyak::ERR_CODE_IS_TOO_BIG && "an instruction is wrong");
  Xbyak::ClearError();
  setSize(Start);
  return nullptr;
}

ProgramCompiler::ProgramCompiler(MutableArrayRef<uint8_t> Room, bool MarksReads)
    : W(std::make_unique<Writer>(Room, MarksReads)) {}
ProgramCompiler::~ProgramCompiler() = default;

const uint8_t *ProgramCompiler::compile(ArrayRef<ReplayOp> Ops) {
  return W->compile(Ops);
}

} // namespace chronicle::native
