// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/Interpreter.h"
#include "query/replay/operations/FloatOperations.h"
#include "query/replay/operations/Helpers.h"
#include "trace-format/Bytecode.h"

using namespace llvm;

namespace chronicle::machine {

using namespace operations;

Interpreter::Interpreter(ReplayMemory &Memory) : Memory(Memory) {
  std::memset(Frame, 0, sizeof(Frame));
}

uint32_t Interpreter::executeFrom(const program::ReplayOp *Op,
                                  uint32_t Instruction, uint32_t Stop,
                                  StoreObserver *Observer) {
  if (LLVM_UNLIKELY(Observer))
    return Observer->SeesLoads
               ? execute<Telling::Accesses>(Op, Instruction, Stop, Observer)
               : execute<Telling::Stores>(Op, Instruction, Stop, Observer);
  return Memory.marksReads()
             ? execute<Telling::ReadMarks>(Op, Instruction, Stop, nullptr)
             : execute<Telling::Nothing>(Op, Instruction, Stop, nullptr);
}

template <class V> static V expandMask(uint64_t Mask) {
  Lanes<uint8_t, V> Bytes;
  for (unsigned I = 0; I < sizeof(V); ++I)
    Bytes.L[I] = Mask >> I & 1 ? 0xff : 0;
  return Bytes.value();
}

/// Stores a result. One that is narrower than 8 bytes is extended by zeros.
template <class T> static inline void storeResult(uint8_t *To, const T &Value) {
  if constexpr (sizeof(T) < 8)
    operations::storeValue<uint64_t>(To, Value);
  else
    operations::storeValue(To, Value);
}

template <class T> struct FirstParameter;
template <class R, class A, class B> struct FirstParameter<R (*)(A, B)> {
  using Type = A;
};

// Every label ends in a jump of its own, so that the processor predicts the
// successor of each operation separately.
#define CH_NEXT_OP                                                             \
  do {                                                                         \
    ++Op;                                                                      \
    goto *Labels[Op->Code];                                                    \
  } while (false)
#define CH_READ(TYPE, PLACE) loadValue<TYPE>(F + (PLACE))
#define CH_WRITE(PLACE, VALUE) storeValue(F + (PLACE), (VALUE))
#define CH_RESULT(VALUE) storeResult(F + Op->Dst, (VALUE))

template <Interpreter::Telling How>
// NOLINTNEXTLINE(readability-function-size): a table of operations.
uint32_t Interpreter::execute(const program::ReplayOp *Op, uint32_t Instruction,
                              uint32_t Stop, StoreObserver *Observer) {
  // In the order of Code.
  static const void *const Labels[] = {
#define CH_REPLAY_CODE(Name, Sound) &&Do_##Name,
#include "query/replay/program/ReplayCodes.def"
#undef CH_REPLAY_CODE
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  &&Op_##Name, &&Immediate_##Name,
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
  };

  uint8_t *const F = Frame;
  constexpr bool Observed = How == Telling::Stores || How == Telling::Accesses;

  auto Load = [&]<class T>(uint64_t Address) -> T {
    if constexpr (How == Telling::ReadMarks)
      return Memory.loadMarked<T>(Address);
    T Value = Memory.load<T>(Address);
    if constexpr (How == Telling::Accesses)
      Observer->load(Instruction, Address, sizeof(T),
                     reinterpret_cast<const uint8_t *>(&Value));
    return Value;
  };
  auto LoadBytes = [&](uint64_t Address, uint8_t *Bytes, size_t Size) {
    Memory.read(Address, Bytes, Size);
    if constexpr (How == Telling::Accesses)
      Observer->load(Instruction, Address, static_cast<uint32_t>(Size), Bytes);
  };
  auto Store = [&](uint64_t Address, const auto &Value) {
    if constexpr (Observed) {
      auto Old = Memory.load<std::decay_t<decltype(Value)>>(Address);
      Observer->store(Instruction, Address, sizeof(Value),
                      reinterpret_cast<const uint8_t *>(&Old),
                      reinterpret_cast<const uint8_t *>(&Value));
    }
    Memory.store(Address, Value);
  };
  auto StoreBytes = [&](uint64_t Address, const uint8_t *Bytes, size_t Size) {
    if constexpr (Observed) {
      std::vector<uint8_t> Old(Size);
      Memory.read(Address, Old.data(), Size);
      Observer->store(Instruction, Address, static_cast<uint32_t>(Size),
                      Old.data(), Bytes);
    }
    Memory.write(Address, Bytes, Size);
  };

  goto *Labels[Op->Code];

Do_Instruction:
  Instruction = Op->A;
  if (Instruction == Stop) {
    StoppedAt = Op;
    return Stopped;
  }
  CH_NEXT_OP;

Do_Const1:
  CH_WRITE(Op->Dst, static_cast<uint8_t>(Op->Imm));
  CH_NEXT_OP;
Do_Const2:
  CH_WRITE(Op->Dst, static_cast<uint16_t>(Op->Imm));
  CH_NEXT_OP;
Do_Const4:
  CH_WRITE(Op->Dst, static_cast<uint32_t>(Op->Imm));
  CH_NEXT_OP;
Do_Const8:
  CH_WRITE(Op->Dst, Op->Imm);
  CH_NEXT_OP;
Do_Const16:
  CH_WRITE(Op->Dst, expandMask<V128>(Op->Imm));
  CH_NEXT_OP;
Do_Const32:
  CH_WRITE(Op->Dst, expandMask<V256>(Op->Imm));
  CH_NEXT_OP;

#define CH_WIDTHS(X)                                                           \
  X(1, uint8_t)                                                                \
  X(2, uint16_t)                                                               \
  X(4, uint32_t)                                                               \
  X(8, uint64_t)                                                               \
  X(16, V128)                                                                  \
  X(32, V256)

#define CH_COPY(N, TYPE)                                                       \
  Do_Copy##N : CH_WRITE(Op->Dst, CH_READ(TYPE, Op->A));                        \
  CH_NEXT_OP;
  CH_WIDTHS(CH_COPY)

Do_GetIndexed: {
  // VEX masks the index; the number of elements is a power of two.
  uint32_t Index = (CH_READ(uint32_t, Op->A) + uint32_t(Op->Bias)) % Op->C;
  std::memcpy(F + Op->Dst, F + Op->B + Index * Op->D, Op->D);
  CH_NEXT_OP;
}
Do_PutIndexed: {
  uint32_t Index = (CH_READ(uint32_t, Op->A) + uint32_t(Op->Bias)) % Op->C;
  std::memcpy(F + Op->B + Index * Op->D, F + Op->Dst, Op->D);
  CH_NEXT_OP;
}

#define CH_LOAD(N, TYPE)                                                       \
  Do_Load##N : {                                                               \
    uint64_t Address = CH_READ(uint64_t, Op->A) + Op->Imm;                     \
    CH_RESULT(Load.template operator()<TYPE>(Address));                        \
    CH_NEXT_OP;                                                                \
  }
  CH_WIDTHS(CH_LOAD)

#define CH_STORE(N, TYPE)                                                      \
  Do_Store##N : {                                                              \
    uint64_t Address = CH_READ(uint64_t, Op->A) + Op->Imm;                     \
    Store(Address, CH_READ(TYPE, Op->B));                                      \
    CH_NEXT_OP;                                                                \
  }
  CH_WIDTHS(CH_STORE)

#define CH_INDEXED_WIDTHS(X)                                                   \
  X(1, uint8_t)                                                                \
  X(2, uint16_t)                                                               \
  X(4, uint32_t)                                                               \
  X(8, uint64_t)                                                               \
  X(16, V128)
#define CH_INDEXED_ADDRESS                                                     \
  (CH_READ(uint64_t, Op->A) + (CH_READ(uint64_t, Op->B) << Op->C) +            \
   static_cast<int64_t>(Op->Bias))
#define CH_LOAD_INDEXED(N, TYPE)                                               \
  Do_LoadIndexed##N                                                            \
      : CH_RESULT(Load.template operator()<TYPE>(CH_INDEXED_ADDRESS));         \
  CH_NEXT_OP;
#define CH_STORE_INDEXED(N, TYPE)                                              \
  Do_StoreIndexed##N : Store(CH_INDEXED_ADDRESS, CH_READ(TYPE, Op->Dst));      \
  CH_NEXT_OP;
  CH_INDEXED_WIDTHS(CH_LOAD_INDEXED)
  CH_INDEXED_WIDTHS(CH_STORE_INDEXED)

Do_StoreGuarded:
  if (F[Op->Dst])
    StoreBytes(CH_READ(uint64_t, Op->A), F + Op->B, Op->C);
  CH_NEXT_OP;

Do_LoadGuarded: {
  uint64_t Address = CH_READ(uint64_t, Op->B);
  if (!F[Op->A]) {
    if (Op->D == CH_LOAD_V128)
      CH_WRITE(Op->Dst, CH_READ(V128, Op->C));
    else if (Op->D == CH_LOAD_64)
      CH_WRITE(Op->Dst, CH_READ(uint64_t, Op->C));
    else
      CH_WRITE(Op->Dst, CH_READ(uint32_t, Op->C));
    CH_NEXT_OP;
  }
  switch (Op->D) {
  case CH_LOAD_V128:
    CH_WRITE(Op->Dst, Load.template operator()<V128>(Address));
    break;
  case CH_LOAD_64:
    CH_WRITE(Op->Dst, Load.template operator()<uint64_t>(Address));
    break;
  case CH_LOAD_32:
    CH_WRITE(Op->Dst, Load.template operator()<uint32_t>(Address));
    break;
  case CH_LOAD_16U_32:
    CH_WRITE(Op->Dst, uint32_t(Load.template operator()<uint16_t>(Address)));
    break;
  case CH_LOAD_16S_32:
    CH_WRITE(Op->Dst,
             int32_t(int16_t(Load.template operator()<uint16_t>(Address))));
    break;
  case CH_LOAD_8U_32:
    CH_WRITE(Op->Dst, uint32_t(Load.template operator()<uint8_t>(Address)));
    break;
  default:
    CH_WRITE(Op->Dst,
             int32_t(int8_t(Load.template operator()<uint8_t>(Address))));
    break;
  }
  CH_NEXT_OP;
}

Do_Cas: {
  if (LLVM_UNLIKELY(OnSwap))
    OnSwap->beforeSwap(Instruction);
  uint64_t Address = CH_READ(uint64_t, Op->A);
  uint8_t Old[8], New[8];
  LoadBytes(Address, Old, Op->D);
  std::memcpy(New, F + Op->C, Op->D);
  bool Equal = std::memcmp(Old, F + Op->B, Op->D) == 0;
  std::memcpy(F + Op->Dst, Old, Op->D);
  if (Equal)
    StoreBytes(Address, New, Op->D);
  CH_NEXT_OP;
}
Do_CasDouble: {
  if (LLVM_UNLIKELY(OnSwap))
    OnSwap->beforeSwap(Instruction);
  const program::ReplayOp *High = Op + 1;
  const size_t Size = Op->D;
  uint64_t Address = CH_READ(uint64_t, Op->A);
  uint8_t Old[16], New[16];
  LoadBytes(Address, Old, 2 * Size);
  std::memcpy(New, F + Op->C, Size);
  std::memcpy(New + Size, F + High->C, Size);
  bool Equal = std::memcmp(Old, F + Op->B, Size) == 0 &&
               std::memcmp(Old + Size, F + High->B, Size) == 0;
  std::memcpy(F + Op->Dst, Old, Size);
  std::memcpy(F + High->Dst, Old + Size, Size);
  if (Equal)
    StoreBytes(Address, New, 2 * Size);
  ++Op;
  CH_NEXT_OP;
}

#define CH_ITE(N, TYPE)                                                        \
  Do_Ite##N : CH_RESULT(CH_READ(TYPE, F[Op->A] ? Op->B : Op->C));              \
  CH_NEXT_OP;
  CH_WIDTHS(CH_ITE)

Do_Call: {
  uint64_t Result = operations::helper(Op->F & 0xff)(
      CH_READ(uint64_t, Op->A), CH_READ(uint64_t, Op->B),
      CH_READ(uint64_t, Op->C), CH_READ(uint64_t, Op->D),
      CH_READ(uint64_t, Op->E));
  std::memcpy(F + Op->Dst, &Result, Op->F >> 8);
  CH_NEXT_OP;
}

Do_Opaque:
  if (LLVM_UNLIKELY(opaqueLeft() < Op->A))
    return OutOfOpaque;
  std::memcpy(F + Op->Dst, Opaque, Op->A);
  Opaque += Op->A;
  CH_NEXT_OP;
Do_SkipOpaque:
  if (LLVM_UNLIKELY(opaqueLeft() < Op->A))
    return OutOfOpaque;
  Opaque += Op->A;
  CH_NEXT_OP;
Do_OpaqueMemory:
  if (F[Op->A]) {
    if (LLVM_UNLIKELY(opaqueLeft() < Op->C))
      return OutOfOpaque;
    StoreBytes(CH_READ(uint64_t, Op->B), Opaque, Op->C);
    Opaque += Op->C;
  }
  CH_NEXT_OP;

Do_Exit:
  if (F[Op->A]) {
    setRip(Op->Imm);
    return Op->B;
  }
  CH_NEXT_OP;
Do_ExitComputed:
  if (F[Op->A]) {
    setRip(CH_READ(uint64_t, Op->C));
    return Op->B;
  }
  CH_NEXT_OP;
Do_Next:
  setRip(CH_READ(uint64_t, Op->A) + Op->Imm);
  return Op->B;

Do_CopyTwice: {
  uint64_t Second = CH_READ(uint64_t, Op->C);
  CH_WRITE(Op->Dst, CH_READ(uint64_t, Op->A));
  CH_WRITE(Op->B, Second);
  CH_NEXT_OP;
}
Do_CopyConst:
  CH_WRITE(Op->Dst, CH_READ(uint64_t, Op->A));
  CH_WRITE(Op->B, Op->Imm);
  CH_NEXT_OP;
Do_ConstTwice:
  CH_WRITE(Op->Dst, Op->Imm & 0xffffffff);
  CH_WRITE(Op->A, Op->Imm >> 32);
  CH_NEXT_OP;
Do_Clear16:
  for (uint8_t *To = F + Op->Dst, *End = To + 32 * Op->A; To < End; To += 32)
    operations::storeValue(To, operations::V128{});
  CH_NEXT_OP;
Do_SetFlags: {
  uint64_t Dep1 = CH_READ(uint64_t, Op->A);
  uint64_t Dep2 = CH_READ(uint64_t, Op->B) + Op->Imm;
  CH_WRITE(CH_OFFSET_CC_OP, static_cast<uint64_t>(Op->Dst));
  CH_WRITE(CH_OFFSET_CC_DEP1, Dep1);
  CH_WRITE(CH_OFFSET_CC_DEP2, Dep2);
  CH_NEXT_OP;
}

#define CH_LEAVE_OR_GO_ON(CONDITION)                                           \
  if (CONDITION) {                                                             \
    setRip(Op[1].Imm);                                                         \
    return Op[1].B;                                                            \
  }                                                                            \
  ++Op;                                                                        \
  CH_NEXT_OP;
#define CH_COMPARE_TYPE(NAME)                                                  \
  typename FirstParameter<decltype(&op_##NAME)>::Type
#define CH_FUSED_COMPARE(Name)                                                 \
  Do_Exit_##Name                                                               \
      : CH_LEAVE_OR_GO_ON(op_##Name(CH_READ(CH_COMPARE_TYPE(Name), Op->A),     \
                                    CH_READ(CH_COMPARE_TYPE(Name), Op->B)))    \
            Do_ExitImmediate_##Name                                            \
      : CH_LEAVE_OR_GO_ON(                                                     \
            op_##Name(CH_READ(CH_COMPARE_TYPE(Name), Op->A),                   \
                      loadValue<CH_COMPARE_TYPE(Name)>(&Op->Imm)))
#include "query/replay/program/FusedCompares.def"
#undef CH_FUSED_COMPARE

#define CH_ARITY_1(NAME, R, TA, TB, TC, TD)                                    \
  Op_##NAME : Immediate_##NAME                                                 \
      : CH_RESULT(op_##NAME(CH_READ(Type##TA, Op->A)));                        \
  CH_NEXT_OP;
// The emitter never makes the immediate form of an operation whose second
// operand is wider than Imm.
#define CH_ARITY_2(NAME, R, TA, TB, TC, TD)                                    \
  Op_##NAME : CH_RESULT(op_##NAME(CH_READ(Type##TA, Op->A),                    \
                                  CH_READ(Type##TB, Op->B)));                  \
  CH_NEXT_OP;                                                                  \
  Immediate_##NAME : if constexpr (sizeof(Type##TB) <= 8)                      \
                         CH_RESULT(op_##NAME(CH_READ(Type##TA, Op->A),         \
                                             loadValue<Type##TB>(&Op->Imm)));  \
  CH_NEXT_OP;
#define CH_ARITY_3(NAME, R, TA, TB, TC, TD)                                    \
  Op_##NAME : Immediate_##NAME                                                 \
      : CH_RESULT(op_##NAME(CH_READ(Type##TA, Op->A),                          \
                            CH_READ(Type##TB, Op->B),                          \
                            CH_READ(Type##TC, Op->C)));                        \
  CH_NEXT_OP;
#define CH_ARITY_4(NAME, R, TA, TB, TC, TD)                                    \
  Op_##NAME : Immediate_##NAME                                                 \
      : CH_RESULT(                                                             \
            op_##NAME(CH_READ(Type##TA, Op->A), CH_READ(Type##TB, Op->B),      \
                      CH_READ(Type##TC, Op->C), CH_READ(Type##TD, Op->D)));    \
  CH_NEXT_OP;
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  CH_ARITY_##Arity(Name, Result, A, B, C, D)
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
}

} // namespace chronicle::machine
