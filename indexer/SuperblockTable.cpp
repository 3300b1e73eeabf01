// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/SuperblockTable.h"
#include "trace-format/Stream.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle::indexer {

static constexpr Step Undefined(Step::Other);

SuperblockTable::SuperblockTable()
    : Entries(1), Steps(1 << 10, Undefined), Places(1) {}

Error SuperblockTable::define(uint32_t Id, uint32_t FirstExit,
                              ArrayRef<uint8_t> Definition) {
  if (Id != Entries.size() || FirstExit != exitCount() + 1)
    return createStringError("superblock %u is defined out of order", Id);
  Expected<bytecode::SuperblockFacts> F =
      bytecode::analyzeSuperblock(Definition);
  if (!F)
    return F.takeError();
  Entry E;
  E.FirstExit = exitCount();
  E.SlotBytes = F->Header.Slots * CH_SLOT_SIZE;
  E.FirstFact = Facts.size();
  const unsigned Ordinals = F->Header.Exits + 1;
  if (Ordinals > CH_MAX_ORDINAL || F->Header.Slots > CH_MAX_SLOTS)
    return createStringError("superblock %u is too large", Id);
  for (unsigned Ordinal = 1; Ordinal <= Ordinals; ++Ordinal) {
    const bytecode::StackPointerFact &Stack = F->StackAt[Ordinal];
    uint16_t Special = F->JumpAt[Ordinal] == CH_JUMP_CALL ? Call : 0;
    if (E.SlotBytes)
      Special |= HasSlots;
    int64_t Number = Stack.Delta;
    if (Stack.Base || !isInt<32>(Stack.Delta)) {
      Special |= StackSet;
      Number = int64_t(SetStacks.size());
      SetStacks.push_back(Stack);
    }
    Step S(Step::Other);
    if (!(Special & (StackSet | HasSlots)) &&
        Step::fits(F->InstructionsAt[Ordinal], Stack.Delta))
      S = Step(Special & Call    ? Step::Calls
               : Stack.Delta > 0 ? Step::Rises
                                 : Step::Plain,
               F->InstructionsAt[Ordinal], Stack.Delta);
    if (exitCount() + 1 == Steps.size())
      Steps.resize(Steps.size() * 2, Undefined);
    Steps[exitCount() + 1] = S;
    Exits.push_back({F->InstructionsAt[Ordinal], Special, int32_t(Number)});
    FactsAt.push_back(F->SlotFactsAt[Ordinal]);
    Owners.push_back(Id);
  }
  llvm::append_range(Facts, F->Slots);
  Places.push_back({F->Header.Address, uint32_t(Lengths.size()),
                    uint16_t(F->Header.Instructions),
                    uint16_t(F->Slots.size())});
  SomeMarkStores |= (F->Header.Flags & CH_DEF_MARKS_STORES) != 0;
  llvm::append_range(Lengths, F->InstructionLength);
  Entries.push_back(E);
  return Error::success();
}

std::optional<SuperblockTable::FaultPoint>
SuperblockTable::faultPoint(uint32_t Id, uint64_t Rip) const {
  const Place &P = Places[Id < Places.size() ? Id : 0];
  uint64_t Address = P.Address;
  for (uint32_t N = 0; N < P.Instructions; ++N) {
    if (Address == Rip) {
      const bytecode::SlotFact *First = facts(Entries[Id]);
      uint32_t Count = 0;
      while (Count < P.Facts && First[Count].Instruction < N)
        ++Count;
      return FaultPoint{N, Count};
    }
    Address += Lengths[P.FirstLength + N];
  }
  return std::nullopt;
}

std::vector<uint8_t> SuperblockTable::passed() const {
  std::vector<uint8_t> Result;
  Result.reserve(exitCount());
  for (const Exit &X : Exits)
    Result.push_back(static_cast<uint8_t>(std::min<uint32_t>(
        X.Instructions, pieces::StoredPrograms::ManyPassed)));
  return Result;
}

} // namespace chronicle::indexer
