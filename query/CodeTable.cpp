// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/CodeTable.h"
#include "trace-format/Bytes.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

/// Of an x86 instruction.
static constexpr uint32_t LongestInstruction = 15;

CodeFacts::CodeFacts(const SuperblockFacts &F) : Start(F.Header.Address) {
  for (uint64_t Address : F.InstructionAddress)
    Offsets.push_back(uint16_t(Address - Start));
  std::vector<uint32_t> SetsBefore{0}; // by slot fact
  for (const SlotFact &S : F.Slots) {
    if (S.Kind == SlotKind::StackPointer)
      StackSets.push_back({S.Instruction, S.Reason == CH_STACK_ELSEWHERE});
    SetsBefore.push_back(uint32_t(StackSets.size()));
  }
  for (size_t K = 1; K < F.InstructionsAt.size(); ++K)
    Exits.push_back({F.InstructionsAt[K],
                     uint16_t(SetsBefore[F.SlotFactsAt[K]]), F.JumpAt[K],
                     F.StackAt[K]});
}

int CodeFacts::instructionAt(uint64_t Address) const {
  uint64_t Offset = Address - Start;
  auto It = llvm::lower_bound(Offsets, Offset);
  return It != Offsets.end() && *It == Offset ? int(It - Offsets.begin()) : -1;
}

CodeTable::CodeTable(const TraceReader &Trace)
    : Trace(Trace), Known(Trace.superblockCount()) {
  for (uint32_t Id = 1; Id < Trace.superblockCount(); ++Id) {
    ByteReader R(Trace.definition(Id).Bytes);
    uint64_t Start = R.u64();
    uint32_t Length =
        uint32_t(std::min<uint64_t>(R.v(), CH_MAX_SLOTS) * LongestInstruction);
    Places.push_back({Start, Length, Id});
    Longest = std::max(Longest, Length);
  }
  llvm::sort(Places, [](const Place &A, const Place &B) {
    return std::tie(A.Start, A.Superblock) < std::tie(B.Start, B.Superblock);
  });
}

CodeTable::~CodeTable() {
  for (std::atomic<const CodeFacts *> &F : Known)
    delete F.load();
}

Expected<const CodeFacts *> CodeTable::facts(uint32_t Superblock) const {
  if (Superblock >= Known.size())
    return createStringError("there is no superblock %u", Superblock);
  if (const CodeFacts *F = Known[Superblock].load(std::memory_order_acquire))
    return F;
  Expected<SuperblockFacts> All =
      analyzeSuperblock(Trace.definition(Superblock).Bytes);
  if (!All)
    return createStringError(formatv("superblock {0} is damaged: {1}",
                                     Superblock, toString(All.takeError())));
  auto Made = std::make_unique<const CodeFacts>(*All);
  const CodeFacts *Others = nullptr;
  if (Known[Superblock].compare_exchange_strong(Others, Made.get()))
    return Made.release();
  return Others;
}

Expected<std::vector<uint32_t>> CodeTable::containing(uint64_t First,
                                                      uint64_t Last) const {
  std::vector<uint32_t> Result;
  auto It = llvm::partition_point(Places, [&](const Place &P) {
    return P.Start < First && First - P.Start >= Longest;
  });
  for (; It != Places.end() && It->Start <= Last; ++It) {
    if (It->Start < First) {
      if (First - It->Start >= It->Length)
        continue;
      Expected<const CodeFacts *> F = facts(It->Superblock);
      if (!F)
        return F.takeError();
      if ((*F)->lastAddress() < First)
        continue;
      // It may begin before the range and go on behind it without an
      // instruction that begins inside: the range is in the middle of one.
      bool Inside = false;
      for (uint32_t N = 0; N < (*F)->instructions() && !Inside; ++N)
        Inside = (*F)->address(N) >= First && (*F)->address(N) <= Last;
      if (!Inside)
        continue;
    }
    Result.push_back(It->Superblock);
  }
  llvm::sort(Result);
  return Result;
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
  uint32_t Symbol = B.Symbols[Index];
  I.Index = Index;
  I.Time = Time;
  I.Thread = Thread;
  I.Superblock = Trace.superblockOfExit(Symbol);
  I.Ordinal = Symbol - Trace.definition(I.Superblock).FirstExit + 1;
  Expected<const CodeFacts *> Facts = Code.facts(I.Superblock);
  if (!Facts)
    return Facts.takeError();
  I.Facts = *Facts;
  I.Passed = I.Facts->exit(I.Ordinal).Instructions;
  I.Faults = false;
  if (NextEvent < B.Events.size()) {
    const Event &E = B.Events[NextEvent];
    if (E.Execution == Index + 1 && E.Kind == CH_EV_FAULT &&
        E.Payload.size() >= sizeof(ch_ev_fault)) {
      uint64_t Rip = support::endian::read64le(E.Payload.data() +
                                               offsetof(ch_ev_fault, rip));
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
