// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/code/CodeTable.h"
#include "query/replay/program/ReplayProgram.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::code {

void CodeTable::findPassed() const {
  Passed = pieces::StoredPrograms::create(Trace.programs(),
                                          program::ReplayProgram::version())
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
    // Most are far away: looks at several at once, without a branch for each.
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
      // It may begin before the range and end behind it without an instruction
      // that begins inside: then the range is in the middle of an instruction.
      if (!(*F)->hasInstructionIn(First, Last))
        continue;
    }
    Result.push_back(Id);
  }
  return Result;
}

} // namespace chronicle::code
