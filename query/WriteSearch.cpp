// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/WriteSearch.h"
#include "query/WriteCandidates.h"
#include "query/WriteCollector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

namespace {

/// The writes of one block to the range, checkpoint by checkpoint.
class BlockWrites {
public:
  BlockWrites(StateCache &Cache, const WatchedFrames &Watched,
              AddressRange Range, TimeRange When, BlockNumber N)
      : Cache(Cache), Watched(Watched), Range(Range), When(When), N(N) {}

  /// False: the visitor has seen enough.
  Expected<bool> visit(bool Backward, function_ref<bool(const Write &)> Visit,
                       const Cancellation *Cancel);

private:
  bool isWritten(size_t Interval) const;
  Expected<std::vector<Write>> collect(size_t Interval);

  StateCache &Cache;
  const WatchedFrames &Watched;
  const AddressRange Range;
  const TimeRange When;
  const BlockNumber N;
  std::shared_ptr<BlockHistory> History;
  size_t Checkpoints = 0; ///< that we go by; others may add some meanwhile
};

} // namespace

/// Whether the stretch after checkpoint I may have written the range.
bool BlockWrites::isWritten(size_t I) const {
  if (I + 1 >= Checkpoints || Watched.movesIn(N))
    return true;
  const Checkpoint &End = History->checkpoint(I + 1);
  static constexpr uint64_t All[GranuleWords] = {~0ull, ~0ull, ~0ull, ~0ull,
                                                 ~0ull, ~0ull, ~0ull, ~0ull};
  if (any_of(End.Fills, [&](const FrameFill &F) {
        return Watched.includes(F.First, F.Last, N);
      }))
    return true;
  return any_of(End.Changes, [&](const auto &Item) {
    const Checkpoint::Change &C = Item.second;
    return Watched.covers(Item.first, N, C.Zeroed ? All : C.Granules);
  });
}

/// The writes between two checkpoints. First a fast replay that finds the
/// superblocks and events that write; then those superblocks again with their
/// exact programs, which know the instruction.
Expected<std::vector<Write>> BlockWrites::collect(size_t I) {
  const bool Last = I + 1 >= Checkpoints;
  Timestamp Stop =
      Last ? ~Timestamp(0) : History->checkpoint(I + 1).Position.Time;
  if (When.Last < Stop)
    Stop = When.Last + 1;

  std::vector<Write> Found;
  std::vector<Timestamp> Superblocks;
  {
    Expected<StateCursor> Cursor = Cache.atCheckpoint(History, I);
    if (!Cursor)
      return Cursor.takeError();
    WatchedRange Watch(Cursor->memory(), Range);
    EventWrites Events(Cache, *Cursor, Watch, Found);
    SuperblockFinder Finder(*Cursor, Watch, Superblocks);
    Cursor->replayer().Observer = &Finder;
    Cursor->replayer().OnEvent = [&](const Event &E, Timestamp T) {
      Events.event(E, T);
      Watch.event(E);
    };
    if (Error E = Cursor->runTo(Stop))
      return E;
    if (Error E = Events.takeError())
      return E;
  }
  if (!Superblocks.empty()) {
    Expected<StateCursor> Cursor = Cache.atCheckpoint(History, I);
    if (!Cursor)
      return Cursor.takeError();
    WatchedRange Watch(Cursor->memory(), Range);
    Cursor->replayer().OnEvent = [&](const Event &E, Timestamp) {
      Watch.event(E);
    };
    StoreWrites Stores(Cache, *Cursor, Watch, Found);
    for (Timestamp T : Superblocks) {
      if (Error E = Cursor->runTo(T))
        return E;
      Cursor->replayer().Observer = &Stores;
      // Stopping inside makes it run the exact program.
      if (Error E = Cursor->runTo(T + 1))
        return E;
      if (Error E = Cursor->finishSuperblock())
        return E;
      Cursor->replayer().Observer = nullptr;
    }
  }
  erase_if(Found, [&](const Write &W) {
    return W.Time < When.First || W.Time > When.Last;
  });
  // Events at a time come before its instruction.
  llvm::stable_sort(Found, [](const Write &A, const Write &B) {
    if (A.Time != B.Time)
      return A.Time < B.Time;
    return A.By != Writer::Instruction && B.By == Writer::Instruction;
  });
  return Found;
}

Expected<bool> BlockWrites::visit(bool Backward,
                                  function_ref<bool(const Write &)> Visit,
                                  const Cancellation *Cancel) {
  Expected<std::shared_ptr<BlockHistory>> H = Cache.history(N);
  if (!H)
    return H.takeError();
  History = *H;
  // Makes the checkpoints, which say what was written in between.
  const Timestamp End = When.Last == ~Timestamp(0) ? When.Last : When.Last + 1;
  if (Expected<StateCursor> Cursor = Cache.in(N, End); !Cursor)
    return Cursor.takeError();
  const bool Complete = History->complete();
  Checkpoints = History->checkpoints();

  // A checkpoint is behind the events of its time.
  const size_t First =
      When.First
          ? std::min(History->checkpointBefore(When.First - 1), Checkpoints - 1)
          : 0;
  size_t Last = std::min(History->checkpointBefore(When.Last), Checkpoints - 1);
  if (Complete && Last + 1 == Checkpoints && Last > 0)
    --Last; // nothing comes after the end
  if (First > Last)
    return true;
  for (size_t Count = Last - First + 1; Count > 0; --Count) {
    if (Cancel && Cancel->Cancelled)
      return false;
    const size_t I = Backward ? First + Count - 1 : Last - Count + 1;
    if (!isWritten(I))
      continue;
    Expected<std::vector<Write>> Found = collect(I);
    if (!Found)
      return Found.takeError();
    if (Backward)
      std::reverse(Found->begin(), Found->end());
    for (const Write &W : *Found)
      if (!Visit(W))
        return false;
  }
  return true;
}

Error findWrites(StateCache &Cache, AddressRange Range, TimeRange When,
                 bool Backward, function_ref<bool(const Write &)> Visit,
                 const Cancellation *Cancel) {
  const TraceReader &Reader = Cache.reader();
  if (Range.First > Range.Last)
    return createStringError("the range of memory ends before it starts");
  When.Last = std::min(When.Last, Reader.instructions());
  if (When.First > When.Last)
    return Error::success();
  // Events at the end of a block have the time of the next one's start.
  ArrayRef<BlockEntry> Blocks = Reader.blocks();
  auto FirstBlock = partition_point(
      Blocks, [&](const BlockEntry &B) { return B.First < When.First; });
  BlockNumber First = FirstBlock - Blocks.begin();
  First = First ? First - 1 : 0;
  const BlockNumber Last = Reader.blockAt(When.Last);

  const WatchedFrames Watched(Reader, Cache.maps(), Range);
  WriteCandidates Candidates(Reader, Cache.chunkSummaries(), Watched, First,
                             Last, Backward);
  while (true) {
    if (Cancel && Cancel->Cancelled)
      return Error::success();
    Expected<std::optional<BlockNumber>> N = Candidates.next();
    if (!N)
      return N.takeError();
    if (!*N)
      return Error::success();
    Expected<bool> More = BlockWrites(Cache, Watched, Range, When, **N)
                              .visit(Backward, Visit, Cancel);
    if (!More)
      return More.takeError();
    if (!*More)
      return Error::success();
  }
}

} // namespace chronicle
