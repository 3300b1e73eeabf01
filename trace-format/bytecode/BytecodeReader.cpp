// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/bytecode/BytecodeReader.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::bytecode {

Error damagedProgram(const Twine &What) {
  return createStringError("damaged replay program: " + What);
}

static constexpr unsigned LastOpcode = CH_OP_FIRST + OperationCount - 1;

/// The position. It is in registers while a statement is decoded, because
/// functions that are not inlined get copies of it.
struct BytecodeReader::Cursor {
  const uint8_t *P, *End;
  /// The first failure sticks, so that a statement is checked once, at its end.
  const char *Problem = nullptr;

  void fail(const char *What) {
    if (!Problem)
      Problem = What;
  }

  uint64_t number() {
    if (LLVM_LIKELY(P != End && *P < 0x80))
      return *P++;
    // Two bytes are common: most operations.
    if (LLVM_LIKELY(End - P >= 2 && P[1] < 0x80)) {
      P += 2;
      return (P[-2] & 0x7fu) | uint64_t(P[-1]) << 7;
    }
    LongNumber N = longNumber(P, End);
    P += N.Length;
    if (!N.Length)
      fail("a number is cut off");
    return N.Value;
  }

  uint32_t number32(const char *What, uint64_t Limit = UINT32_MAX) {
    uint64_t Value = number();
    if (LLVM_LIKELY(Value <= Limit))
      return static_cast<uint32_t>(Value);
    fail(What);
    return 0;
  }

  int64_t zigzag() { return unzigzag(number()); }

  uint8_t byte() {
    if (LLVM_LIKELY(P != End))
      return *P++;
    fail("it ends inside a statement");
    return 0;
  }

  ch_type type() {
    uint8_t Value = byte();
    if (LLVM_LIKELY(Value < CH_TYPE_COUNT))
      return static_cast<ch_type>(Value);
    fail("unknown type");
    return CH_I64;
  }

  void skip(uint64_t Count) {
    if (LLVM_UNLIKELY(Count > uint64_t(End - P))) {
      fail("it ends inside a statement");
      Count = uint64_t(End - P);
    }
    P += Count;
  }

  void skipOperand() {
    if ((number() & 3) == 3)
      skip(8);
  }

private:
  struct LongNumber {
    uint64_t Value;
    unsigned Length; ///< 0: cut off
  };
  static LLVM_ATTRIBUTE_NOINLINE LongNumber longNumber(const uint8_t *P,
                                                       const uint8_t *End) {
    unsigned Length = 0;
    const char *CutOff = nullptr;
    uint64_t Value = decodeULEB128(P, &Length, End, &CutOff);
    if (CutOff)
      return {0, 0};
    return {Value, Length};
  }
};

Expected<BytecodeReader> BytecodeReader::create(ArrayRef<uint8_t> Definition) {
  if (Definition.size() < 8)
    return damagedProgram("no address");
  BytecodeReader R;
  R.Header.Address = support::endian::read64le(Definition.data());
  Cursor C{Definition.begin() + 8, Definition.end()};
  R.Header.Instructions = C.number32("too many instructions", UINT16_MAX);
  R.Header.Exits = C.number32("too many exits", CH_MAX_ORDINAL - 1);
  R.Header.Temps = C.number32("too many temps", 1u << 24);
  R.Header.Slots = C.number32("too many slots", CH_MAX_SLOTS);
  R.Header.Flags =
      C.number32("unknown flags", CH_DEF_LOGS_LOADS | CH_DEF_MARKS_STORES);
  if (C.Problem)
    return damagedProgram(C.Problem);
  R.P = C.P;
  R.End = C.End;
  // A definition with more temps than bytes is damaged, which next() will find.
  R.TempTypes.resize_for_overwrite(
      std::min<size_t>(R.Header.Temps, Definition.size()));
  return R;
}

Error BytecodeReader::takeError() const {
  return Problem ? damagedProgram(Problem) : Error::success();
}

/// Returns true if no statement is left, or if the program is damaged here.
inline bool BytecodeReader::ends() {
  if (LLVM_LIKELY(!Finished && !Problem && P != End))
    return false;
  if (!Problem && !Finished)
    Problem = "it does not end in a jump";
  else if (!Problem && P != End)
    Problem = "statements follow the last one";
  return true;
}

inline bool BytecodeReader::finish(const Cursor &C) {
  P = C.P;
  Problem = C.Problem;
  return !Problem;
}

#define CH_INLINE inline __attribute__((always_inline))

/// Reads a field of an instruction, exit or change of the stack pointer, which
/// is behind its operands.
template <StatementField Field>
CH_INLINE void BytecodeReader::readFlow(Cursor &C, Statement &S) {
  if constexpr (Field == StatementField::Length) {
    S.Size = C.number32("instruction too long", 255);
    if (LLVM_UNLIKELY(++InstructionsSeen > Header.Instructions))
      C.fail("more instructions than it says");
  } else if constexpr (Field == StatementField::Origin) {
    S.Origin = C.byte();
    if (LLVM_UNLIKELY(S.Origin > CH_STACK_ITSELF))
      C.fail("unknown origin of a stack pointer");
    ++StackPointersSeen;
  } else {
    if constexpr (Field == StatementField::ExitJump) {
      if (LLVM_UNLIKELY(++ExitsSeen > Header.Exits))
        C.fail("another number of exits than it says");
    } else {
      Finished = true;
      if (InstructionsSeen != Header.Instructions)
        C.fail("fewer instructions than it says");
      if (ExitsSeen != Header.Exits)
        C.fail("another number of exits than it says");
    }
    S.Jump = C.byte();
    if (LLVM_UNLIKELY(S.Jump > CH_JUMP_OTHER))
      C.fail("unknown kind of jump");
    S.StackBase = C.number32("bad stack pointer", StackPointersSeen);
    S.StackDelta = C.zigzag();
  }
}

/// Reads the other fields of one statement into it.
struct BytecodeReader::OperandReader {
  Cursor C;
  Statement &S;
  const uint64_t Address;     ///< of the superblock
  const uint8_t *const Types; ///< of the temps that are defined
  const uint32_t Temps;       ///< their number
  unsigned Atoms = 0;

  CH_INLINE void operand(ch_type Type) {
    Atom &A = S.Atoms[Atoms++];
    const uint64_t Value = C.number();
    const uint64_t Payload = Value >> 2;
    A.IsTemp = (Value & 3) == 0;
    switch (Value & 3) {
    case 0:
      A.Temp = static_cast<uint32_t>(Payload);
      if (LLVM_UNLIKELY(Payload >= Temps))
        C.fail("a temp is used before it is defined");
      else if (LLVM_UNLIKELY(Types[Payload] != Type))
        C.fail("a temp has another type than its use");
      break;
    case 1:
      A.Constant = static_cast<uint64_t>(unzigzag(Payload));
      break;
    case 2:
      A.Constant = Address + static_cast<uint64_t>(unzigzag(Payload));
      break;
    case 3:
      if (LLVM_UNLIKELY(C.End - C.P < 8)) {
        C.fail("a constant is cut off");
        break;
      }
      A.Constant = support::endian::read64le(C.P);
      C.P += 8;
      break;
    }
  }

  CH_INLINE void checkState(uint64_t Size) {
    if (LLVM_UNLIKELY(S.Offset + Size > CH_GUEST_STATE_SIZE))
      C.fail("it reaches beyond the guest state");
  }

  CH_INLINE void array() {
    S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
    S.Elements = C.number32("bad array", CH_GUEST_STATE_SIZE);
    int64_t Bias = C.zigzag();
    if (S.Elements == 0 || Bias != static_cast<int32_t>(Bias))
      C.fail("bad array");
    S.Bias = static_cast<int32_t>(Bias);
    checkState(uint64_t(S.Elements) * typeSize(S.Type));
  }

  CH_INLINE void conversion() {
    S.Conversion = C.byte();
    if (S.Conversion > CH_LOAD_8S_32)
      C.fail("unknown conversion");
    S.Type = conversionResult(S.Conversion);
  }

  CH_INLINE void integerType() {
    S.Type = C.type();
    if (S.Type < CH_I8 || S.Type > CH_I64)
      C.fail("not an integer type");
  }

  CH_INLINE void swapsDouble() {
    uint8_t Double = C.byte();
    if (Double > 1)
      C.fail("bad compare-and-swap");
    S.Double = Double;
  }

  CH_INLINE void operands(ch_type Type, uint32_t Count) {
    for (uint32_t I = 0; I < Count; ++I)
      operand(Type);
  }

  template <StatementField Field> CH_INLINE void field() {
    using enum StatementField;
    if constexpr (Field == Type) {
      S.Type = C.type();
    } else if constexpr (Field == IntegerType) {
      integerType();
    } else if constexpr (Field == Conversion) {
      conversion();
    } else if constexpr (Field == Double) {
      swapsDouble();
    } else if constexpr (Field == State) {
      S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
      checkState(typeSize(S.Type));
    } else if constexpr (Field == StateBytes) {
      S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
      S.Size = C.number32("bad size", CH_GUEST_STATE_SIZE);
      checkState(S.Size);
    } else if constexpr (Field == Array) {
      array();
    } else if constexpr (Field == Size) {
      S.Size = C.number32("bad size", UINT16_MAX);
    } else if constexpr (Field == Helper) {
      S.Helper = C.number32("unknown helper", HelperCount - 1);
    } else if constexpr (Field == Reason) {
      S.Reason = C.number32("bad reason");
    } else if constexpr (Field == Guard) {
      operand(CH_I1);
    } else if constexpr (Field == Index) {
      operand(CH_I32);
    } else if constexpr (Field == StatementField::Address) {
      operand(CH_I64);
    } else if constexpr (Field == Value) {
      operand(S.Type);
    } else if constexpr (Field == SwapValues) {
      operands(S.Type, S.Double ? 4 : 2);
    } else if constexpr (Field == Arguments) {
      operands(CH_I64, C.number32("too many arguments", Statement::MaxAtoms));
    }
  }
};

template <StatementField... Fields>
CH_INLINE void BytecodeReader::read(OperandReader &R) {
  auto One = [&]<StatementField Field>() __attribute__((always_inline)) {
    if constexpr (isFlow(Field))
      readFlow<Field>(R.C, R.S);
    else
      R.field<Field>();
  };
  (One.template operator()<Fields>(), ...);
}

void CH_INLINE BytecodeReader::readOperation(OperandReader &R) {
  Statement &S = R.S;
  if (S.Opcode < CH_OP_FIRST) {
    R.C.fail("unknown statement");
    return;
  }
  S.Operation = S.Opcode - CH_OP_FIRST;
  S.Opcode = CH_OP_FIRST;
  const OperationInfo &Info = operationInfo(S.Operation);
  S.Type = Info.Result;
  for (unsigned I = 0; I < Info.Arity; ++I)
    R.operand(Info.Operands[I]);
  S.Defines = 1;
}

/// Gives the statement's temps their type.
CH_INLINE void BytecodeReader::define(Cursor &C, Statement &S) {
  const uint32_t First = NextTemp;
  S.DefinedType = S.Type;
  NextTemp += S.Defines;
  if (LLVM_UNLIKELY(NextTemp > TempTypes.size()))
    C.fail("more temps than it says");
  else
    TempTypes[First] = TempTypes[NextTemp - 1] = static_cast<uint8_t>(S.Type);
}

bool BytecodeReader::next(Statement &S) {
  if (ends())
    return false;
  OperandReader R{{P, End}, S, Header.Address, TempTypes.data(), NextTemp};
  static_cast<StatementHead &>(S) = StatementHead();
  S.Opcode = R.C.number32("unknown statement", LastOpcode);
  switch (S.Opcode) {
    using enum StatementField;
#define CH_STATEMENT(OPCODE, DEFINES, TEXT, ...)                               \
  case CH_OP_##OPCODE:                                                         \
    read<__VA_ARGS__>(R);                                                      \
    S.Defines = DEFINES ? 1 + S.Double : 0;                                    \
    break;
#include "trace-format/bytecode/Statements.def"
#undef CH_STATEMENT
  default:
    readOperation(R);
    break;
  }
  S.AtomCount = static_cast<uint8_t>(R.Atoms);
  S.FirstTemp = NextTemp;
  if (S.Defines)
    define(R.C, S);
  return finish(R.C);
}

/// Skips the fields of a statement, but reads those that are flow. Returns
/// whether there was one.
template <StatementField... Fields>
CH_INLINE bool BytecodeReader::skip(Cursor &C, Statement &S) {
  unsigned Values = 0;
  auto Numbers = [&](unsigned Count) __attribute__((always_inline)) {
    for (; Count; --Count)
      C.number();
  };
  auto Operands = [&](unsigned Count) __attribute__((always_inline)) {
    for (; Count; --Count)
      C.skipOperand();
  };
  auto One = [&]<StatementField Field>() __attribute__((always_inline)) {
    using enum StatementField;
    if constexpr (isFlow(Field))
      readFlow<Field>(C, S);
    else if constexpr (Field == Type || Field == IntegerType ||
                       Field == Conversion)
      C.skip(1);
    else if constexpr (Field == Double)
      Values = C.byte() ? 4 : 2;
    else if constexpr (Field == State || Field == Size || Field == Helper ||
                       Field == Reason)
      Numbers(1);
    else if constexpr (Field == StateBytes)
      Numbers(2);
    else if constexpr (Field == Array)
      Numbers(3);
    else if constexpr (Field == SwapValues)
      Operands(Values);
    else if constexpr (Field == Arguments)
      Operands(C.number32("too many arguments", Statement::MaxAtoms));
    else
      Operands(1);
  };
  (One.template operator()<Fields>(), ...);
  return (isFlow(Fields) || ...);
}

bool BytecodeReader::nextFlow(Statement &S) {
  if (ends())
    return false;
  static_cast<StatementHead &>(S) = StatementHead();
  Cursor C{P, End};
  while (true) {
    const uint32_t Opcode = C.number32("unknown statement", LastOpcode);
    bool IsFlow = false;
    switch (Opcode) {
      using enum StatementField;
#define CH_STATEMENT(OPCODE, DEFINES, TEXT, ...)                               \
  case CH_OP_##OPCODE:                                                         \
    IsFlow = skip<__VA_ARGS__>(C, S);                                          \
    break;
#include "trace-format/bytecode/Statements.def"
#undef CH_STATEMENT
    default:
      if (Opcode < CH_OP_FIRST)
        C.fail("unknown statement");
      else
        for (unsigned I = operationInfo(Opcode - CH_OP_FIRST).Arity; I; --I)
          C.skipOperand();
      break;
    }
    if (IsFlow) {
      S.Opcode = Opcode;
      return finish(C);
    }
    if (LLVM_UNLIKELY(C.Problem || C.P == C.End)) {
      C.fail("it does not end in a jump");
      return finish(C);
    }
  }
}

} // namespace chronicle::bytecode
