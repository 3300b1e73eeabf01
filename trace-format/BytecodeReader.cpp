// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/BytecodeReader.h"
#include "trace-format/Stream.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

unsigned typeSize(ch_type Type) {
  static const uint8_t Sizes[CH_TYPE_COUNT] = {1, 1, 2, 4, 8, 16, 4, 8, 16, 32};
  assert(Type < CH_TYPE_COUNT);
  return Sizes[Type];
}

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

namespace {

/// Reads the primitives; the first failure sticks, so that a statement is
/// checked once at its end.
class Decoder {
public:
  Decoder(ArrayRef<uint8_t> &Rest, uint64_t Address,
          ArrayRef<uint8_t> TempTypes)
      : Rest(Rest), Address(Address), TempTypes(TempTypes) {}

  uint64_t number() {
    unsigned Length = 0;
    const char *Problem = nullptr;
    uint64_t Value = decodeULEB128(Rest.begin(), &Length, Rest.end(), &Problem);
    if (Problem) {
      fail("a number is cut off");
      return 0;
    }
    Rest = Rest.drop_front(Length);
    return Value;
  }

  uint32_t number32(const char *What, uint64_t Limit = UINT32_MAX) {
    uint64_t Value = number();
    if (Value > Limit) {
      fail(What);
      return 0;
    }
    return static_cast<uint32_t>(Value);
  }

  int64_t zigzag() { return unzigzag(number()); }

  uint8_t byte() {
    if (Rest.empty()) {
      fail("it ends inside a statement");
      return 0;
    }
    uint8_t Value = Rest.front();
    Rest = Rest.drop_front();
    return Value;
  }

  ch_type type() {
    uint8_t Value = byte();
    if (Value >= CH_TYPE_COUNT) {
      fail("unknown type");
      return CH_I64;
    }
    return static_cast<ch_type>(Value);
  }

  void atom(Statement &S, ch_type Type) {
    if (S.AtomCount == std::size(S.Atoms)) {
      fail("too many operands");
      return;
    }
    Atom &A = S.Atoms[S.AtomCount++];
    uint64_t Value = number();
    A.IsTemp = false;
    switch (Value & 3) {
    case 0:
      A.IsTemp = true;
      if ((Value >> 2) >= TempTypes.size()) {
        fail("a temp is used before it is defined");
        return;
      }
      A.Temp = static_cast<uint32_t>(Value >> 2);
      if (TempTypes[A.Temp] != Type)
        fail("a temp has another type than its use");
      return;
    case 1:
      A.Constant = unzigzag(Value >> 2);
      return;
    case 2:
      A.Constant = Address + unzigzag(Value >> 2);
      return;
    case 3:
      if (Rest.size() < 8) {
        fail("a constant is cut off");
        return;
      }
      A.Constant = support::endian::read64le(Rest.data());
      Rest = Rest.drop_front(8);
      return;
    }
  }

  void fail(const char *What) {
    if (!Problem)
      Problem = What;
  }
  const char *problem() const { return Problem; }

private:
  static int64_t unzigzag(uint64_t Value) {
    return static_cast<int64_t>((Value >> 1) ^ (0 - (Value & 1)));
  }

  ArrayRef<uint8_t> &Rest;
  uint64_t Address;
  ArrayRef<uint8_t> TempTypes;
  const char *Problem = nullptr;
};

} // namespace

Expected<BytecodeReader> BytecodeReader::create(ArrayRef<uint8_t> Definition) {
  if (Definition.size() < 8)
    return bad("no address");
  BytecodeReader R;
  R.Header.Address = support::endian::read64le(Definition.data());
  R.Rest = Definition.drop_front(8);
  Decoder D(R.Rest, R.Header.Address, {});
  R.Header.Instructions = D.number32("too many instructions", UINT16_MAX);
  R.Header.Exits = D.number32("too many exits", CH_MAX_ORDINAL - 1);
  R.Header.Temps = D.number32("too many temps", 1u << 24);
  R.Header.Slots = D.number32("too many slots", CH_MAX_SLOTS);
  R.Header.Flags = D.number32("unknown flags", CH_DEF_LOGS_LOADS |
                                                      CH_DEF_MARKS_STORES);
  if (D.problem())
    return bad(D.problem());
  R.TempTypes.reserve(std::min<size_t>(R.Header.Temps, R.Rest.size()));
  return R;
}

Expected<bool> BytecodeReader::next(Statement &S) {
  if (Finished) {
    if (!Rest.empty())
      return bad("statements follow the last one");
    return false;
  }
  if (Rest.empty())
    return bad("it does not end in a jump");

  Decoder D(Rest, Header.Address, TempTypes);
  S = Statement();
  auto Defines = [&](ch_type Type, unsigned Count = 1) {
    S.Defines = Count;
    S.DefinedType = Type;
  };
  auto StateRange = [&](uint64_t Offset, uint64_t Size) {
    if (Offset + Size > CH_GUEST_STATE_SIZE)
      D.fail("it reaches beyond the guest state");
  };

  auto StackPointer = [&] {
    S.StackBase = D.number32("bad stack pointer", StackPointersSeen);
    S.StackDelta = D.zigzag();
  };

  S.Opcode =
      D.number32("unknown statement", CH_OP_FIRST + operationCount() - 1);
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    S.Size = D.number32("instruction too long", 255);
    break;
  case CH_OP_GET:
    S.Type = D.type();
    S.Offset = D.number32("bad offset", CH_GUEST_STATE_SIZE);
    StateRange(S.Offset, typeSize(S.Type));
    Defines(S.Type);
    break;
  case CH_OP_PUT:
    S.Type = D.type();
    S.Offset = D.number32("bad offset", CH_GUEST_STATE_SIZE);
    StateRange(S.Offset, typeSize(S.Type));
    D.atom(S, S.Type);
    break;
  case CH_OP_GET_INDEXED:
  case CH_OP_PUT_INDEXED: {
    S.Type = D.type();
    S.Offset = D.number32("bad offset", CH_GUEST_STATE_SIZE);
    S.Elements = D.number32("bad array", CH_GUEST_STATE_SIZE);
    int64_t Bias = D.zigzag();
    if (S.Elements == 0 || Bias != static_cast<int32_t>(Bias))
      D.fail("bad array");
    S.Bias = static_cast<int32_t>(Bias);
    StateRange(S.Offset, uint64_t(S.Elements) * typeSize(S.Type));
    D.atom(S, CH_I32);
    if (S.Opcode == CH_OP_GET_INDEXED)
      Defines(S.Type);
    else
      D.atom(S, S.Type);
    break;
  }
  case CH_OP_LOAD:
    S.Type = D.type();
    D.atom(S, CH_I64);
    Defines(S.Type);
    break;
  case CH_OP_STORE:
    S.Type = D.type();
    D.atom(S, CH_I64);
    D.atom(S, S.Type);
    break;
  case CH_OP_STORE_GUARDED:
    S.Type = D.type();
    D.atom(S, CH_I1);
    D.atom(S, CH_I64);
    D.atom(S, S.Type);
    break;
  case CH_OP_LOAD_GUARDED:
    S.Conversion = D.byte();
    if (S.Conversion > CH_LOAD_8S_32)
      D.fail("unknown conversion");
    S.Type = conversionResult(S.Conversion);
    D.atom(S, CH_I1);
    D.atom(S, CH_I64);
    D.atom(S, S.Type);
    Defines(S.Type);
    break;
  case CH_OP_CAS: {
    S.Type = D.type();
    if (S.Type < CH_I8 || S.Type > CH_I64)
      D.fail("bad type of a compare-and-swap");
    uint8_t Double = D.byte();
    if (Double > 1)
      D.fail("bad compare-and-swap");
    S.Double = Double;
    D.atom(S, CH_I64);
    for (unsigned I = 0; I < (S.Double ? 4u : 2u); ++I)
      D.atom(S, S.Type);
    Defines(S.Type, S.Double ? 2 : 1);
    break;
  }
  case CH_OP_ITE:
    S.Type = D.type();
    D.atom(S, CH_I1);
    D.atom(S, S.Type);
    D.atom(S, S.Type);
    Defines(S.Type);
    break;
  case CH_OP_CALL: {
    S.Type = D.type();
    if (S.Type < CH_I8 || S.Type > CH_I64)
      D.fail("bad result of a helper");
    S.Helper = D.number32("unknown helper", helperCount() - 1);
    uint32_t Count = D.number32("too many arguments", std::size(S.Atoms));
    for (uint32_t I = 0; I < Count; ++I)
      D.atom(S, CH_I64);
    Defines(S.Type);
    break;
  }
  case CH_OP_OPAQUE:
    S.Type = D.type();
    S.Reason = D.number32("bad reason");
    Defines(S.Type);
    break;
  case CH_OP_OPAQUE_REGISTERS:
    S.Offset = D.number32("bad offset", CH_GUEST_STATE_SIZE);
    S.Size = D.number32("bad size", CH_GUEST_STATE_SIZE);
    S.Reason = D.number32("bad reason");
    StateRange(S.Offset, S.Size);
    break;
  case CH_OP_OPAQUE_MEMORY:
    D.atom(S, CH_I1);
    D.atom(S, CH_I64);
    S.Size = D.number32("bad size", UINT16_MAX);
    S.Reason = D.number32("bad reason");
    break;
  case CH_OP_EXIT:
    D.atom(S, CH_I1);
    D.atom(S, CH_I64);
    S.Jump = D.byte();
    StackPointer();
    ++ExitsSeen;
    break;
  case CH_OP_NEXT:
    D.atom(S, CH_I64);
    S.Jump = D.byte();
    StackPointer();
    Finished = true;
    break;
  case CH_OP_STACK_POINTER:
    S.Origin = D.byte();
    if (S.Origin > CH_STACK_ITSELF)
      D.fail("unknown origin of a stack pointer");
    ++StackPointersSeen;
    break;
  case CH_OP_COPY:
    S.Type = D.type();
    D.atom(S, S.Type);
    Defines(S.Type);
    break;
  default: {
    if (S.Opcode < CH_OP_FIRST) {
      D.fail("unknown statement");
      break;
    }
    S.Operation = S.Opcode - CH_OP_FIRST;
    S.Opcode = CH_OP_FIRST;
    const OperationInfo &Info = operationInfo(S.Operation);
    S.Type = Info.Result;
    for (unsigned I = 0; I < Info.Arity; ++I)
      D.atom(S, Info.Operands[I]);
    Defines(Info.Result);
    break;
  }
  }
  if (D.problem())
    return bad(D.problem());
  if (S.Jump > CH_JUMP_OTHER)
    return bad("unknown kind of jump");
  if (S.Opcode == CH_OP_INSTRUCTION && ++InstructionsSeen > Header.Instructions)
    return bad("more instructions than it says");

  S.FirstTemp = NextTemp;
  NextTemp += S.Defines;
  if (NextTemp > Header.Temps)
    return bad("more temps than it says");
  TempTypes.insert(TempTypes.end(), S.Defines, S.DefinedType);
  if (Finished && InstructionsSeen != Header.Instructions)
    return bad("fewer instructions than it says");
  if (ExitsSeen > Header.Exits || (Finished && ExitsSeen != Header.Exits))
    return bad("another number of exits than it says");
  return true;
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
  while (true) {
    Expected<bool> More = Reader->next(S);
    if (!More)
      return More.takeError();
    if (!*More)
      break;
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
  if (Slot != F.Header.Slots)
    return bad("another number of slots than it says");
  return F;
}

} // namespace chronicle
