// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/BytecodeReader.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

static const OperationInfo Operations[] = {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D)                          \
  {#Name, CH_##Result, Arity, {CH_##A, CH_##B, CH_##C, CH_##D}},
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

unsigned operationCount() { return std::size(Operations); }

const OperationInfo &operationInfo(unsigned N) {
  assert(N < operationCount());
  return Operations[N];
}

static const char *const Helpers[] = {
#define CH_HELPER(Name) #Name,
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
};

unsigned helperCount() { return std::size(Helpers); }

const char *helperName(unsigned N) {
  assert(N < helperCount());
  return Helpers[N];
}

ch_type conversionResult(uint8_t Conversion) {
  switch (Conversion) {
  case CH_LOAD_V128:
    return CH_V128;
  case CH_LOAD_64:
    return CH_I64;
  default:
    return CH_I32;
  }
}

unsigned conversionBytes(uint8_t Conversion) {
  switch (Conversion) {
  case CH_LOAD_V128:
    return 16;
  case CH_LOAD_64:
    return 8;
  case CH_LOAD_32:
    return 4;
  case CH_LOAD_16U_32:
  case CH_LOAD_16S_32:
    return 2;
  default:
    return 1;
  }
}

static Error bad(const Twine &What) {
  return createStringError("damaged replay program: " + What);
}

/// Where reading is. Lives in registers while a statement is decoded, so what
/// is rare and not inlined gets copies.
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
    return bad("no address");
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
    return bad(C.Problem);
  R.P = C.P;
  R.End = C.End;
  // A definition that claims more temps than it has bytes has no chance.
  R.TempTypes.resize_for_overwrite(
      std::min<size_t>(R.Header.Temps, Definition.size()));
  return R;
}

Error BytecodeReader::takeError() const {
  return Problem ? bad(Problem) : Error::success();
}

/// No statement is left, or none that makes sense.
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

/// What comes behind the operands of an instruction, exit or change of the
/// stack pointer.
inline __attribute__((always_inline)) void
BytecodeReader::readFlow(Cursor &C, Statement &S) {
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    S.Size = C.number32("instruction too long", 255);
    if (LLVM_UNLIKELY(++InstructionsSeen > Header.Instructions))
      C.fail("more instructions than it says");
    return;
  case CH_OP_STACK_POINTER:
    S.Origin = C.byte();
    if (LLVM_UNLIKELY(S.Origin > CH_STACK_ITSELF))
      C.fail("unknown origin of a stack pointer");
    ++StackPointersSeen;
    return;
  case CH_OP_EXIT:
    if (LLVM_UNLIKELY(++ExitsSeen > Header.Exits))
      C.fail("another number of exits than it says");
    break;
  case CH_OP_NEXT:
    Finished = true;
    if (InstructionsSeen != Header.Instructions)
      C.fail("fewer instructions than it says");
    if (ExitsSeen != Header.Exits)
      C.fail("another number of exits than it says");
    break;
  }
  S.Jump = C.byte();
  if (LLVM_UNLIKELY(S.Jump > CH_JUMP_OTHER))
    C.fail("unknown kind of jump");
  S.StackBase = C.number32("bad stack pointer", StackPointersSeen);
  S.StackDelta = C.zigzag();
}

bool BytecodeReader::nextFlow(Statement &S) {
  if (ends())
    return false;
  Cursor C{P, End};
  while (true) {
    const uint32_t Opcode = C.number32("unknown statement",
                                       CH_OP_FIRST + std::size(Operations) - 1);
    unsigned Bytes = 1, Numbers = 0, Operands = 0;
    switch (Opcode) {
    case CH_OP_EXIT:
      C.skipOperand();
      [[fallthrough]];
    case CH_OP_NEXT:
      C.skipOperand();
      [[fallthrough]];
    case CH_OP_INSTRUCTION:
    case CH_OP_STACK_POINTER:
      static_cast<StatementHead &>(S) = StatementHead();
      S.Opcode = Opcode;
      readFlow(C, S);
      return finish(C);
    case CH_OP_GET:
    case CH_OP_OPAQUE:
      Numbers = 1;
      break;
    case CH_OP_PUT:
      Numbers = Operands = 1;
      break;
    case CH_OP_GET_INDEXED:
      Numbers = 3;
      Operands = 1;
      break;
    case CH_OP_PUT_INDEXED:
      Numbers = 3;
      Operands = 2;
      break;
    case CH_OP_LOAD:
    case CH_OP_COPY:
      Operands = 1;
      break;
    case CH_OP_STORE:
      Operands = 2;
      break;
    case CH_OP_STORE_GUARDED:
    case CH_OP_LOAD_GUARDED:
    case CH_OP_ITE:
      Operands = 3;
      break;
    case CH_OP_CAS:
      C.byte();
      Operands = C.byte() ? 5 : 3;
      Bytes = 0;
      break;
    case CH_OP_CALL:
      C.byte();
      C.number();
      Operands = C.number32("too many arguments", Statement::MaxAtoms);
      Bytes = 0;
      break;
    case CH_OP_OPAQUE_REGISTERS:
      Numbers = 3;
      Bytes = 0;
      break;
    case CH_OP_OPAQUE_MEMORY:
      C.skipOperand();
      C.skipOperand();
      Numbers = 2;
      Bytes = 0;
      break;
    default:
      if (Opcode < CH_OP_FIRST)
        C.fail("unknown statement");
      else
        Operands = Operations[Opcode - CH_OP_FIRST].Arity;
      Bytes = 0;
      break;
    }
    C.skip(Bytes);
    for (; Numbers; --Numbers)
      C.number();
    for (; Operands; --Operands)
      C.skipOperand();
    if (LLVM_UNLIKELY(C.Problem || C.P == C.End)) {
      C.fail("it does not end in a jump");
      return finish(C);
    }
  }
}

bool BytecodeReader::next(Statement &S) {
  if (ends())
    return false;
  Cursor C{P, End};
  const uint8_t *const Types = TempTypes.data();
  const uint32_t Temps = NextTemp;
  unsigned Atoms = 0;
  auto Operand = [&](ch_type Type) __attribute__((always_inline)) {
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
      A.Constant = Header.Address + static_cast<uint64_t>(unzigzag(Payload));
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
  };
  static_cast<StatementHead &>(S) = StatementHead();
  auto Defines = [&](ch_type Type, unsigned Count = 1) {
    S.Defines = static_cast<uint8_t>(Count);
    S.DefinedType = Type;
  };
  auto StateRange = [&](uint64_t Offset, uint64_t Size) {
    if (LLVM_UNLIKELY(Offset + Size > CH_GUEST_STATE_SIZE))
      C.fail("it reaches beyond the guest state");
  };
  S.Opcode =
      C.number32("unknown statement", CH_OP_FIRST + std::size(Operations) - 1);
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    readFlow(C, S);
    break;
  case CH_OP_GET:
    S.Type = C.type();
    S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
    StateRange(S.Offset, typeSize(S.Type));
    Defines(S.Type);
    break;
  case CH_OP_PUT:
    S.Type = C.type();
    S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
    StateRange(S.Offset, typeSize(S.Type));
    Operand(S.Type);
    break;
  case CH_OP_GET_INDEXED:
  case CH_OP_PUT_INDEXED: {
    S.Type = C.type();
    S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
    S.Elements = C.number32("bad array", CH_GUEST_STATE_SIZE);
    int64_t Bias = C.zigzag();
    if (S.Elements == 0 || Bias != static_cast<int32_t>(Bias))
      C.fail("bad array");
    S.Bias = static_cast<int32_t>(Bias);
    StateRange(S.Offset, uint64_t(S.Elements) * typeSize(S.Type));
    Operand(CH_I32);
    if (S.Opcode == CH_OP_GET_INDEXED)
      Defines(S.Type);
    else
      Operand(S.Type);
    break;
  }
  case CH_OP_LOAD:
    S.Type = C.type();
    Operand(CH_I64);
    Defines(S.Type);
    break;
  case CH_OP_STORE:
    S.Type = C.type();
    Operand(CH_I64);
    Operand(S.Type);
    break;
  case CH_OP_STORE_GUARDED:
    S.Type = C.type();
    Operand(CH_I1);
    Operand(CH_I64);
    Operand(S.Type);
    break;
  case CH_OP_LOAD_GUARDED:
    S.Conversion = C.byte();
    if (S.Conversion > CH_LOAD_8S_32)
      C.fail("unknown conversion");
    S.Type = conversionResult(S.Conversion);
    Operand(CH_I1);
    Operand(CH_I64);
    Operand(S.Type);
    Defines(S.Type);
    break;
  case CH_OP_CAS: {
    S.Type = C.type();
    if (S.Type < CH_I8 || S.Type > CH_I64)
      C.fail("bad type of a compare-and-swap");
    uint8_t Double = C.byte();
    if (Double > 1)
      C.fail("bad compare-and-swap");
    S.Double = Double;
    Operand(CH_I64);
    for (unsigned I = 0; I < (S.Double ? 4u : 2u); ++I)
      Operand(S.Type);
    Defines(S.Type, S.Double ? 2 : 1);
    break;
  }
  case CH_OP_ITE:
    S.Type = C.type();
    Operand(CH_I1);
    Operand(S.Type);
    Operand(S.Type);
    Defines(S.Type);
    break;
  case CH_OP_CALL: {
    S.Type = C.type();
    if (S.Type < CH_I8 || S.Type > CH_I64)
      C.fail("bad result of a helper");
    S.Helper = C.number32("unknown helper", helperCount() - 1);
    uint32_t Count = C.number32("too many arguments", Statement::MaxAtoms);
    for (uint32_t I = 0; I < Count; ++I)
      Operand(CH_I64);
    Defines(S.Type);
    break;
  }
  case CH_OP_OPAQUE:
    S.Type = C.type();
    S.Reason = C.number32("bad reason");
    Defines(S.Type);
    break;
  case CH_OP_OPAQUE_REGISTERS:
    S.Offset = C.number32("bad offset", CH_GUEST_STATE_SIZE);
    S.Size = C.number32("bad size", CH_GUEST_STATE_SIZE);
    S.Reason = C.number32("bad reason");
    StateRange(S.Offset, S.Size);
    break;
  case CH_OP_OPAQUE_MEMORY:
    Operand(CH_I1);
    Operand(CH_I64);
    S.Size = C.number32("bad size", UINT16_MAX);
    S.Reason = C.number32("bad reason");
    break;
  case CH_OP_EXIT:
    Operand(CH_I1);
    Operand(CH_I64);
    readFlow(C, S);
    break;
  case CH_OP_NEXT:
    Operand(CH_I64);
    readFlow(C, S);
    break;
  case CH_OP_STACK_POINTER:
    readFlow(C, S);
    break;
  case CH_OP_COPY:
    S.Type = C.type();
    Operand(S.Type);
    Defines(S.Type);
    break;
  default: {
    if (S.Opcode < CH_OP_FIRST) {
      C.fail("unknown statement");
      break;
    }
    S.Operation = S.Opcode - CH_OP_FIRST;
    S.Opcode = CH_OP_FIRST;
    const OperationInfo &Info = Operations[S.Operation];
    S.Type = Info.Result;
    for (unsigned I = 0; I < Info.Arity; ++I)
      Operand(Info.Operands[I]);
    Defines(Info.Result);
    break;
  }
  }
  S.AtomCount = static_cast<uint8_t>(Atoms);
  S.FirstTemp = Temps;
  if (S.Defines) {
    NextTemp += S.Defines;
    if (LLVM_UNLIKELY(NextTemp > TempTypes.size()))
      C.fail("more temps than it says");
    else
      TempTypes[Temps] = TempTypes[NextTemp - 1] =
          static_cast<uint8_t>(S.DefinedType);
  }
  return finish(C);
}

int SuperblockFacts::instructionAt(uint64_t Address) const {
  auto It =
      std::find(InstructionAddress.begin(), InstructionAddress.end(), Address);
  return It == InstructionAddress.end() ? -1 : It - InstructionAddress.begin();
}

Expected<SuperblockFacts> analyzeSuperblock(ArrayRef<uint8_t> Definition) {
  Expected<BytecodeReader> Reader = BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  SuperblockFacts F;
  F.Header = Reader->header();
  const bool LogsLoads = F.Header.Flags & CH_DEF_LOGS_LOADS;
  const bool LogsStores = !(F.Header.Flags & CH_DEF_MARKS_STORES);
  F.InstructionsAt.push_back(0);
  F.SlotFactsAt.push_back(0);
  F.JumpAt.push_back(CH_JUMP_OTHER);
  F.StackAt.push_back({});
  uint64_t NextAddress = F.Header.Address;
  uint32_t Slot = 0;
  uint16_t Exits = 0;

  auto Add = [&](SlotKind Kind, unsigned Bytes, unsigned Slots,
                 uint32_t Reason) {
    SlotFact Fact;
    Fact.Kind = Kind;
    Fact.Bytes = static_cast<uint16_t>(Bytes);
    Fact.FirstSlot = static_cast<uint16_t>(Slot);
    Fact.Slots = static_cast<uint16_t>(Slots);
    Fact.Instruction = static_cast<uint16_t>(
        F.InstructionAddress.empty() ? 0 : F.InstructionAddress.size() - 1);
    Fact.Exit = Exits;
    Fact.Reason = Reason;
    F.Slots.push_back(Fact);
    Slot += Slots;
  };
  auto AddAccess = [&](SlotKind Kind, unsigned Bytes) {
    Add(Kind, Bytes, CH_ACCESS_SLOTS(Bytes), 0);
  };

  Statement S;
  while (Reader->next(S)) {
    const unsigned Bytes = typeSize(S.Type);
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      F.InstructionAddress.push_back(NextAddress);
      F.InstructionLength.push_back(static_cast<uint8_t>(S.Size));
      NextAddress += S.Size;
      break;
    case CH_OP_LOAD:
      if (LogsLoads)
        AddAccess(SlotKind::Load, Bytes);
      break;
    case CH_OP_LOAD_GUARDED:
      if (LogsLoads)
        AddAccess(SlotKind::Load, conversionBytes(S.Conversion));
      break;
    case CH_OP_STORE:
    case CH_OP_STORE_GUARDED:
      if (LogsStores)
        AddAccess(SlotKind::Store, Bytes);
      break;
    case CH_OP_CAS:
      if (LogsLoads)
        AddAccess(SlotKind::Load, S.Double ? 2 * Bytes : Bytes);
      if (LogsStores)
        AddAccess(SlotKind::Store, S.Double ? 2 * Bytes : Bytes);
      break;
    case CH_OP_OPAQUE:
      Add(SlotKind::Opaque, Bytes, CH_VALUE_SLOTS(Bytes), S.Reason);
      break;
    case CH_OP_OPAQUE_REGISTERS:
      Add(SlotKind::OpaqueRegisters, S.Size, CH_VALUE_SLOTS(S.Size), S.Reason);
      break;
    case CH_OP_STACK_POINTER:
      Add(SlotKind::StackPointer, 8, CH_VALUE_SLOTS(8), S.Origin);
      break;
    case CH_OP_OPAQUE_MEMORY:
      Add(SlotKind::OpaqueMemory, S.Size, 1 + CH_VALUE_SLOTS(S.Size), S.Reason);
      break;
    case CH_OP_EXIT:
    case CH_OP_NEXT:
      F.InstructionsAt.push_back(
          static_cast<uint16_t>(F.InstructionAddress.size()));
      F.SlotFactsAt.push_back(static_cast<uint16_t>(F.Slots.size()));
      F.JumpAt.push_back(S.Jump);
      F.StackAt.push_back({S.StackBase, S.StackDelta});
      ++Exits;
      break;
    }
    if (Slot > CH_MAX_SLOTS)
      return bad("too many slots");
  }
  if (Error E = Reader->takeError())
    return E;
  if (Slot != F.Header.Slots)
    return bad("another number of slots than it says");
  return F;
}

} // namespace chronicle
