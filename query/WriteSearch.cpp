// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/WriteSearch.h"
#include "query/WriteCandidates.h"
#include "query/WriteCollector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

namespace {

/// The writes of one block to the range. Cold, one replay finds the superblocks
/// and events that touch it; forward it goes no further than somebody wants to
/// know. Where there are checkpoints, only the stretches are replayed that
/// wrote the granules. What was found becomes writes in a second replay, from
/// the checkpoint before it.
class BlockWrites {
public:
  BlockWrites(StateCache &Cache, const WatchedFrames &Watched,
              AddressRange Range, TimeRange When, BlockNumber N, bool Backward,
              function_ref<bool(const Write &)> Visit,
              const Cancellation *Cancel)
      : Cache(Cache), Watched(Watched), Range(Range), When(When), N(N),
        Backward(Backward), Visit(Visit), Cancel(Cancel) {}

  /// False: the visitor has seen enough.
  Expected<bool> visit();

private:
  bool isWritten(size_t Interval) const;
  size_t checkpointOf(const Hit &H) const;
  Expected<bool> search(size_t From, Timestamp Stop);
  Expected<bool> show(ArrayRef<Hit> Hits);
  Expected<bool> show(size_t Checkpoint, ArrayRef<Hit> Hits);
  bool show(const Write &W) {
    return W.Time < When.First || W.Time > When.Last || Visit(W);
  }

  StateCache &Cache;
  const WatchedFrames &Watched;
  const AddressRange Range;
  const TimeRange When;
  const BlockNumber N;
  const bool Backward;
  const function_ref<bool(const Write &)> Visit;
  const Cancellation *Cancel;
  std::shared_ptr<BlockHistory> History;
  /// Hits to make writes of at once. Backward most want one, and the first
  /// needs a replay as the last does; those who want all get more each time.
  size_t Most = 1;
};

} // namespace

/// Whether the stretch between checkpoints I and I + 1 may have written the
/// range.
bool BlockWrites::isWritten(size_t I) const {
  if (Watched.movesIn(N))
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

size_t BlockWrites::checkpointOf(const Hit &H) const {
  size_t I = 0, End = History->checkpoints();
  while (End - I > 1) {
    const size_t Middle = I + (End - I) / 2;
    (H.isAfter(History->checkpoint(Middle)) ? I : End) = Middle;
  }
  return I;
}

/// Makes writes of hits that have one checkpoint before them, and shows them.
Expected<bool> BlockWrites::show(size_t Checkpoint, ArrayRef<Hit> Hits) {
  Expected<StateCursor> Cursor = Cache.atCheckpoint(History, Checkpoint);
  if (!Cursor)
    return Cursor.takeError();
  std::vector<Write> Found;
  WriteMaker Maker(Cache, std::move(*Cursor), Range, Hits);
  while (!Maker.done()) {
    Expected<std::vector<Write>> More = Maker.next();
    if (!More)
      return More.takeError();
    if (Backward)
      llvm::append_range(Found, *More);
    else if (!all_of(*More, [&](const Write &W) { return show(W); }))
      return false;
  }
  return all_of(reverse(Found), [&](const Write &W) { return show(W); });
}

Expected<bool> BlockWrites::show(ArrayRef<Hit> Hits) {
  while (!Hits.empty()) {
    const size_t I = checkpointOf(Backward ? Hits.back() : Hits.front());
    auto IsOther = [&](const Hit &H) { return checkpointOf(H) != I; };
    size_t Count;
    if (Backward) {
      Count = find_if(reverse(Hits), IsOther) - Hits.rbegin();
      Count = std::min(Count, Most);
      Most *= 4;
    } else {
      Count = find_if(Hits, IsOther) - Hits.begin();
    }
    Expected<bool> More =
        show(I, Backward ? Hits.take_back(Count) : Hits.take_front(Count));
    if (!More || !*More)
      return More;
    Hits = Backward ? Hits.drop_back(Count) : Hits.drop_front(Count);
  }
  return true;
}

/// Replays from a checkpoint to Stop, and shows what it finds.
Expected<bool> BlockWrites::search(size_t From, Timestamp Stop) {
  Expected<StateCursor> Cursor = Cache.atCheckpoint(History, From);
  if (!Cursor)
    return Cursor.takeError();
  HitFinder Finder(*Cursor, Range);
  bool Done = false;
  while (!Done) {
    if (Cancel && Cancel->Cancelled)
      return false;
    Expected<bool> Passed = Cursor->passCheckpoint(Stop);
    if (!Passed)
      return Passed.takeError();
    Done = !*Passed;
    if (Done)
      if (Error E = Cursor->runTo(Stop))
        return E;
    erase_if(Finder.Hits, [&](const Hit &H) {
      return H.Time > When.Last ||
             H.Time + (H.Outside ? 0 : LongestSuperblock) < When.First;
    });
    if (Backward && !Done)
      continue;
    Expected<bool> More = show(std::exchange(Finder.Hits, {}));
    if (!More || !*More)
      return More;
  }
  return true;
}

Expected<bool> BlockWrites::visit() {
  Expected<std::shared_ptr<BlockHistory>> H = Cache.history(N);
  if (!H)
    return H.takeError();
  History = *H;
  // Others may add checkpoints meanwhile.
  const size_t Checkpoints = History->checkpoints();
  const bool Complete = History->complete();
  const Timestamp End = When.Last == ~Timestamp(0) ? When.Last : When.Last + 1;

  // A checkpoint is behind the events of its time.
  size_t First = When.First ? History->checkpointBefore(When.First - 1) : 0;
  size_t Last = History->checkpointBefore(When.Last);
  First = std::min(First, Checkpoints - 1);
  Last = std::min(Last, Checkpoints - 1);
  if (Complete && Last + 1 == Checkpoints && Last > 0)
    --Last; // nothing comes after the end
  if (First > Last)
    return true;
  for (size_t Count = Last - First + 1; Count > 0; --Count) {
    const size_t I = Backward ? First + Count - 1 : Last - Count + 1;
    const bool Known = I + 1 < Checkpoints;
    if (Known && !isWritten(I))
      continue;
    const Timestamp Stop =
        Known ? History->checkpoint(I + 1).Position.Time : ~Timestamp(0);
    Expected<bool> More = search(I, std::min(Stop, End));
    if (!More || !*More)
      return More;
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
    Expected<bool> More =
        BlockWrites(Cache, Watched, Range, When, **N, Backward, Visit, Cancel)
            .visit();
    if (!More)
      return More.takeError();
    if (!*More)
      return Error::success();
  }
}

} // namespace chronicle
