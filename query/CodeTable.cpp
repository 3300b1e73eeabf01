// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/CodeTable.h"
#include "query/ReplayProgram.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

Expected<std::unique_ptr<const CodeFacts>>
CodeFacts::create(ArrayRef<uint8_t> Definition) {
  Expected<BytecodeReader> Reader = BytecodeReader::create(Definition);
  if (!Reader)
    return Reader.takeError();
  const DefinitionHeader &Header = Reader->header();
  std::unique_ptr<CodeFacts> F(new CodeFacts);
  F->Start = Header.Address;
  F->Offsets.reserve(std::min<size_t>(Header.Instructions, Definition.size()));
  F->Exits.reserve(Header.Exits + 1);
  uint32_t Offset = 0;
  Statement S;
  while (Reader->nextFlow(S)) {
    switch (S.Opcode) {
    case CH_OP_INSTRUCTION:
      F->Offsets.push_back(uint16_t(Offset));
      Offset += S.Size;
      break;
    case CH_OP_STACK_POINTER:
      F->StackSets.push_back(
          {uint16_t(F->Offsets.empty() ? 0 : F->Offsets.size() - 1),
           S.Origin == CH_STACK_ELSEWHERE});
      break;
    default:
      F->Exits.push_back({uint16_t(F->Offsets.size()),
                          uint16_t(F->StackSets.size()),
                          S.Jump,
                          {S.StackBase, S.StackDelta}});
    }
  }
  if (Error E = Reader->takeError())
    return E;
  return F;
}

int CodeFacts::instructionAt(uint64_t Address) const {
  uint64_t Offset = Address - Start;
  auto It = llvm::lower_bound(Offsets, Offset);
  return It != Offsets.end() && *It == Offset ? int(It - Offsets.begin()) : -1;
}

bool CodeFacts::hasInstructionIn(uint64_t First, uint64_t Last) const {
  auto It = llvm::lower_bound(Offsets, First - std::min(First, Start));
  return It != Offsets.end() && Start + *It <= Last;
}

void CodeTable::findPassed() const {
  Passed = StoredPrograms::create(Trace.programs(), ReplayProgram::version())
               .passed();
}

Expected<uint32_t> CodeTable::passedByFacts(uint32_t Exit) const {
  const uint32_t Superblock = Trace.superblockOfExit(Exit);
  Expected<const CodeFacts *> F = facts(Superblock);
  if (!F)
    return F.takeError();
  return (*F)
      ->exit(Exit - Trace.definition(Superblock).FirstExit + 1)
      .Instructions;
}

Expected<const CodeFacts *> CodeTable::facts(uint32_t Superblock) const {
  if (Superblock >= Known.size())
    return createStringError("there is no superblock %u", Superblock);
  Slot &S = Known[Superblock];
  if (const CodeFacts *F = S.load(std::memory_order_acquire))
    return F;
  Expected<std::unique_ptr<const CodeFacts>> F =
      CodeFacts::create(Trace.definition(Superblock).Bytes);
  if (!F)
    return createStringError(formatv("superblock {0} is damaged: {1}",
                                     Superblock, toString(F.takeError())));
  std::lock_guard<std::mutex> Guard(Lock);
  if (const CodeFacts *Others = S.load(std::memory_order_relaxed))
    return Others;
  S.store(F->get(), std::memory_order_release);
  Made.push_back(std::move(*F));
  return Made.back().get();
}

Expected<std::vector<uint32_t>> CodeTable::containing(uint64_t First,
                                                      uint64_t Last) const {
  std::vector<uint32_t> Result;
  ArrayRef<uint64_t> Starts = Trace.superblockAddresses();
  const uint64_t Lowest = First - std::min(First, Longest);
  constexpr uint32_t Step = 8;
  for (uint32_t Id = 1; Id < Starts.size(); ++Id) {
    // Most are far away: several at once, without a branch for each.
    for (; Id + Step <= Starts.size(); Id += Step) {
      bool Near = false;
      for (uint32_t K = 0; K < Step; ++K)
        Near |= Starts[Id + K] - Lowest <= Last - Lowest;
      if (Near)
        break;
    }
    if (Id == Starts.size() || !mayContain(Id, First, Last))
      continue;
    if (Starts[Id] < First) {
      Expected<const CodeFacts *> F = facts(Id);
      if (!F)
        return F.takeError();
      // It may begin before the range and go on behind it without an
      // instruction that begins inside: the range is in the middle of one.
      if (!(*F)->hasInstructionIn(First, Last))
        continue;
    }
    Result.push_back(Id);
  }
  return Result;
}

Error ExecutionWalk::addFacts(Item &I) const {
  Expected<const CodeFacts *> Facts = Code.facts(I.Superblock);
  if (!Facts)
    return Facts.takeError();
  I.Facts = *Facts;
  I.Ordinal = I.Exit - Trace.definition(I.Superblock).FirstExit + 1;
  return Error::success();
}

Expected<bool> ExecutionWalk::next(Item &I) {
  for (; NextEvent < B.Events.size() && B.Events[NextEvent].Execution <= Index;
       ++NextEvent) {
    const Event &E = B.Events[NextEvent];
    if (E.Kind == CH_EV_RESUME && E.Payload.size() >= 4)
      Thread = support::endian::read32le(E.Payload.data());
    if (OnEvent)
      OnEvent(E, Time);
  }
  if (Index == B.Symbols.size())
    return false;
  I.Index = Index;
  I.Time = Time;
  I.Thread = Thread;
  I.Exit = B.Symbols[Index];
  I.Superblock = Trace.superblockOfExit(I.Exit);
  if (LLVM_LIKELY(I.Exit < Passed.size() &&
                  Passed[I.Exit] != StoredPrograms::ManyPassed)) {
    I.Passed = Passed[I.Exit];
  } else {
    Expected<uint32_t> ByFacts = Code.passedByFacts(I.Exit);
    if (!ByFacts)
      return ByFacts.takeError();
    I.Passed = *ByFacts;
  }
  I.Faults = false;
  if (NextEvent < B.Events.size()) {
    const Event &E = B.Events[NextEvent];
    if (E.Execution == Index + 1 && E.Kind == CH_EV_FAULT &&
        E.Payload.size() >= sizeof(ch_ev_fault)) {
      uint64_t Rip = support::endian::read64le(E.Payload.data() +
                                               offsetof(ch_ev_fault, rip));
      if (Error Failed = addFacts(I))
        return Failed;
      int At = I.Facts->instructionAt(Rip);
      if (At < 0)
        return createStringError(formatv(
            "block {0} has a fault where there is no instruction", B.Number));
      I.Faults = true;
      I.Passed = uint32_t(At);
    }
  }
  ++Index;
  Time += I.Passed;
  return true;
}

} // namespace chronicle
