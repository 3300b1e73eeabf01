// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/bytecode/SuperblockFacts.h"
#include "trace-format/Stream.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::bytecode {

int SuperblockFacts::instructionAt(uint64_t Address) const {
  auto It =
      std::find(InstructionAddress.begin(), InstructionAddress.end(), Address);
  return It == InstructionAddress.end() ? -1 : It - InstructionAddress.begin();
}

namespace {
/// Collects the facts, statement by statement.
class FactsCollector {
public:
  explicit FactsCollector(const DefinitionHeader &Header)
      : LogsLoads(Header.Flags & CH_DEF_LOGS_LOADS),
        LogsStores(!(Header.Flags & CH_DEF_MARKS_STORES)),
        NextAddress(Header.Address) {
    F.Header = Header;
    F.InstructionsAt.push_back(0);
    F.SlotFactsAt.push_back(0);
    F.JumpAt.push_back(CH_JUMP_OTHER);
    F.StackAt.push_back({});
  }
  void add(const Statement &S);
  uint32_t slots() const { return Slot; }

  SuperblockFacts F;

private:
  void addSlots(SlotKind Kind, unsigned Bytes, unsigned Slots,
                uint32_t Reason = 0);
  void addAccess(SlotKind Kind, unsigned Bytes, uint32_t Reason = 0) {
    if (Kind == SlotKind::Load ? LogsLoads : LogsStores)
      addSlots(Kind, Bytes, CH_ACCESS_SLOTS(Bytes), Reason);
  }

  const bool LogsLoads, LogsStores;
  uint64_t NextAddress;
  uint32_t Slot = 0;
  uint16_t Exits = 0;
};
} // namespace

void FactsCollector::addSlots(SlotKind Kind, unsigned Bytes, unsigned Slots,
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
}

void FactsCollector::add(const Statement &S) {
  const unsigned Bytes = typeSize(S.Type);
  switch (S.Opcode) {
  case CH_OP_INSTRUCTION:
    F.InstructionAddress.push_back(NextAddress);
    F.InstructionLength.push_back(static_cast<uint8_t>(S.Size));
    NextAddress += S.Size;
    break;
  case CH_OP_LOAD:
    addAccess(SlotKind::Load, Bytes);
    break;
  case CH_OP_LOAD_GUARDED:
    addAccess(SlotKind::Load, conversionBytes(S.Conversion));
    break;
  case CH_OP_STORE:
  case CH_OP_STORE_GUARDED:
    addAccess(SlotKind::Store, Bytes);
    break;
  case CH_OP_CAS:
    addAccess(SlotKind::Load, S.Double ? 2 * Bytes : Bytes,
              CH_OUTSIDE_BEFORE_SWAP);
    addAccess(SlotKind::Store, S.Double ? 2 * Bytes : Bytes);
    break;
  case CH_OP_OPAQUE:
    addSlots(SlotKind::Opaque, Bytes, CH_VALUE_SLOTS(Bytes), S.Reason);
    break;
  case CH_OP_OPAQUE_REGISTERS:
    addSlots(SlotKind::OpaqueRegisters, S.Size, CH_VALUE_SLOTS(S.Size),
             S.Reason);
    break;
  case CH_OP_STACK_POINTER:
    addSlots(SlotKind::StackPointer, 8, CH_VALUE_SLOTS(8), S.Origin);
    break;
  case CH_OP_OPAQUE_MEMORY:
    addSlots(SlotKind::OpaqueMemory, S.Size, 1 + CH_VALUE_SLOTS(S.Size),
             S.Reason);
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
}

Expected<SuperblockFacts> analyzeSuperblock(ArrayRef<uint8_t> Definition) {
  Expected<BytecodeReader> Reader = BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  FactsCollector Facts(Reader->header());
  Statement S;
  while (Reader->next(S)) {
    Facts.add(S);
    if (Facts.slots() > CH_MAX_SLOTS)
      return damagedProgram("too many slots");
  }
  if (Error E = Reader->takeError())
    return E;
  if (Facts.slots() != Reader->header().Slots)
    return damagedProgram("another number of slots than it says");
  return std::move(Facts.F);
}

} // namespace chronicle::bytecode
