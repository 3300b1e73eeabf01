// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/BlockWrites.h"
#include "query/search/WriteMaker.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

/// Whether the stretch between checkpoints I and I + 1 may have written the
/// range.
bool BlockWrites::isWritten(size_t I) const {
  if (Watched.movesIn(N))
    return true;
  const state::Checkpoint &End = History->checkpoint(I + 1);
  static constexpr uint64_t All[GranuleWords] = {~0ull, ~0ull, ~0ull, ~0ull,
                                                 ~0ull, ~0ull, ~0ull, ~0ull};
  if (any_of(End.Fills, [&](const machine::FrameFill &F) {
        return Watched.includes(F.First, F.Last, N);
      }))
    return true;
  return any_of(End.Changes, [&](const auto &Item) {
    const state::Checkpoint::Change &C = Item.second;
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

/// Turns hits that have the same checkpoint before them into writes, and shows
/// them.
Expected<bool> BlockWrites::show(size_t Checkpoint, ArrayRef<Hit> Hits) {
  Expected<state::StateCursor> Cursor = Cache.atCheckpoint(History, Checkpoint);
  if (!Cursor)
    return Cursor.takeError();
  std::vector<answers::Write> Found;
  WriteMaker Maker(Cache, std::move(*Cursor), Range, Hits);
  while (!Maker.done()) {
    Expected<std::vector<answers::Write>> More = Maker.next();
    if (!More)
      return More.takeError();
    if (Backward)
      llvm::append_range(Found, *More);
    else if (!all_of(*More, [&](const answers::Write &W) { return show(W); }))
      return false;
  }
  return all_of(reverse(Found),
                [&](const answers::Write &W) { return show(W); });
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
  Expected<state::StateCursor> Cursor = Cache.atCheckpoint(History, From);
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
             H.Time + (H.Outside ? 0 : state::LongestSuperblock) < When.First;
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
  Expected<std::shared_ptr<state::BlockHistory>> H = Cache.history(N);
  if (!H)
    return H.takeError();
  History = *H;
  // Other threads may add checkpoints meanwhile.
  const size_t Checkpoints = History->checkpoints();
  const bool Complete = History->complete();
  const Timestamp End = When.Last == ~Timestamp(0) ? When.Last : When.Last + 1;

  // A checkpoint comes after the events of its time.
  size_t First = When.First ? History->checkpointBefore(When.First - 1) : 0;
  size_t Last = History->checkpointBefore(When.Last);
  First = std::min(First, Checkpoints - 1);
  Last = std::min(Last, Checkpoints - 1);
  if (Complete && Last + 1 == Checkpoints && Last > 0)
    --Last; // the last checkpoint is the end of the block
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

} // namespace chronicle::search
