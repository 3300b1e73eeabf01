// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/ExecutionSearch.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

namespace {
/// The blocks or pieces, from First on, in which superblocks ran.
class RanIn {
public:
  RanIn(BlockNumber First, size_t Count)
      : Bits(static_cast<unsigned>(Count)), First(First) {}
  void operator()(const pieces::ExecutionRun &R) {
    if (R.First - First < Bits.size())
      Bits.set(static_cast<unsigned>(R.First - First),
               static_cast<unsigned>(
                   std::min<uint64_t>(R.Last - First + 1, Bits.size())));
  }
  BitVector Bits;

private:
  BlockNumber First;
};
} // namespace

/// Calls Visit for the blocks in which code of the range ran, according to the
/// index.
Error ExecutionSearch::visitBlocks(
    answers::AddressRange Range, answers::TimeRange When, uint32_t Thread,
    bool Backward, function_ref<Expected<bool>(BlockNumber)> Visit,
    const answers::Cancellation *Cancel) const {
  const file::TraceReader &Reader = States.reader();
  if (Range.First > Range.Last || When.First > When.Last ||
      When.First >= Reader.instructions())
    return Error::success();
  Expected<std::vector<uint32_t>> Superblocks =
      Code.containing(Range.First, Range.Last);
  if (!Superblocks)
    return Superblocks.takeError();
  if (Superblocks->empty())
    return Error::success();
  BlockNumber First = Reader.blockAt(When.First);
  BlockNumber Last =
      Reader.blockAt(std::min(When.Last, Reader.instructions() - 1));

  ArrayRef<ExecutionPiece> Pieces = Reader.executionPieces();
  RanIn InPieces(0, Pieces.size());
  if (!States.pieces().visitExecutionIndex(*Superblocks, InPieces))
    InPieces.Bits.set();
  auto Start = [&](const BitVector &B) {
    return Backward ? B.find_last() : B.find_first();
  };
  auto Next = [&](const BitVector &B, int At) {
    return Backward ? B.find_prev(At) : B.find_next(At);
  };
  const pieces::ThreadBlocks OfThread = Reader.blocksOf(Thread);
  for (int I = Start(InPieces.Bits); I >= 0; I = Next(InPieces.Bits, I)) {
    const ExecutionPiece &P = Pieces[I];
    if (P.Last < First || P.First > Last)
      continue;
    if (Cancel && Cancel->Cancelled)
      return Error::success();
    Expected<std::shared_ptr<const file::StoredExecutions>> Runs =
        States.pieces().executions(P);
    if (!Runs)
      return Runs.takeError();
    RanIn Ran(P.First, P.Last - P.First + 1);
    if (Error E = (*Runs)->Range.visit(*Superblocks, Ran))
      return E;
    for (int K = Start(Ran.Bits); K >= 0; K = Next(Ran.Bits, K)) {
      const BlockNumber N = P.First + K;
      if (N < First || N > Last || (Thread && !OfThread.contains(N)))
        continue;
      if (Cancel && Cancel->Cancelled)
        return Error::success();
      Expected<bool> More = Visit(N);
      if (!More)
        return More.takeError();
      if (!*More)
        return Error::success();
    }
  }
  return Error::success();
}

/// Calls Visit with each execution that has instructions of the range in the
/// given time, and with the first of them and their number.
Error ExecutionSearch::walk(
    BlockNumber N, answers::AddressRange Range, answers::TimeRange When,
    uint32_t Thread,
    function_ref<void(const code::ExecutionWalk::Item &, uint32_t, uint32_t)>
        Visit) const {
  Expected<std::shared_ptr<const Block>> B = States.block(N);
  if (!B)
    return B.takeError();
  code::ExecutionWalk Walk(Code, States.reader(), **B);
  code::ExecutionWalk::Item I;
  while (true) {
    Expected<bool> More = Walk.next(I);
    if (!More)
      return More.takeError();
    if (!*More || I.Time > When.Last)
      return Error::success();
    if (!I.Passed || (Thread && I.Thread != Thread) ||
        !Code.mayContain(I.Superblock, Range.First, Range.Last))
      continue;
    if (Error E = Walk.addFacts(I))
      return E;
    if (I.Facts->address(0) > Range.Last ||
        I.Facts->address(I.Passed - 1) < Range.First)
      continue;
    uint32_t First = 0, End = I.Passed;
    while (I.Facts->address(First) < Range.First)
      ++First;
    while (End > First && I.Facts->address(End - 1) > Range.Last)
      --End;
    while (First < End && I.Time + First < When.First)
      ++First;
    while (First < End && I.Time + (End - 1) > When.Last)
      --End;
    if (First < End)
      Visit(I, First, End - First);
  }
}

Error ExecutionSearch::find(
    answers::AddressRange Range, answers::TimeRange When, uint32_t Thread,
    bool Backward, function_ref<bool(const answers::Execution &)> Visit,
    const answers::Cancellation *Cancel) const {
  std::vector<answers::Execution> Found;
  return visitBlocks(
      Range, When, Thread, Backward,
      [&](BlockNumber N) -> Expected<bool> {
        Found.clear();
        Error E = walk(N, Range, When, Thread,
                       [&](const code::ExecutionWalk::Item &I, uint32_t First,
                           uint32_t Count) {
                         for (uint32_t K = First; K < First + Count; ++K)
                           Found.push_back(
                               {I.Time + K, I.Thread, I.Facts->address(K)});
                       });
        if (E)
          return E;
        if (Backward)
          std::reverse(Found.begin(), Found.end());
        for (const answers::Execution &X : Found)
          if (!Visit(X))
            return false;
        return true;
      },
      Cancel);
}

Expected<uint64_t>
ExecutionSearch::count(answers::AddressRange Range, answers::TimeRange When,
                       uint32_t Thread,
                       const answers::Cancellation *Cancel) const {
  uint64_t Total = 0;
  Error E = visitBlocks(
      Range, When, Thread, /*Backward=*/false,
      [&](BlockNumber N) -> Expected<bool> {
        Error E = walk(N, Range, When, Thread,
                       [&](const code::ExecutionWalk::Item &, uint32_t,
                           uint32_t Count) { Total += Count; });
        if (E)
          return E;
        return true;
      },
      Cancel);
  if (E)
    return E;
  return Total;
}

} // namespace chronicle::search
