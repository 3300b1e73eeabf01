// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WatchedFrames.h"
#include "query/replay/TracePages.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

/// Adds the granules of the range that are in a page.
static void granulesOf(answers::AddressRange Range, uint64_t Page,
                       uint64_t Granules[GranuleWords]) {
  const uint64_t Address = Page * PageSize;
  state::addGranules(Granules, std::max(Range.First, Address) - Address,
                     std::min(Range.Last, Address + PageSize - 1) - Address);
}

void WatchedFrames::add(ArrayRef<PageChunkEntry> Chunks, uint64_t FirstPage,
                        uint64_t LastPage, FrameNumber First,
                        answers::AddressRange Range, BlockNumber Since,
                        BlockNumber Until) {
  replay::visitFrames(
      Chunks, First, First + (LastPage - FirstPage), [&](FrameNumber Number) {
        WatchedFrames::Frame F{Number, {}, Since, Until};
        granulesOf(Range, FirstPage + (Number - First), F.Granules);
        Frames.push_back(F);
      });
}

WatchedFrames::WatchedFrames(ArrayRef<PageChunkEntry> Chunks,
                             const state::MapHistory &Maps,
                             answers::AddressRange Range) {
  const uint64_t FirstPage = Range.First / PageSize,
                 LastPage = Range.Last / PageSize;
  add(Chunks, FirstPage, LastPage, FirstPage, Range, 0, ~BlockNumber(0));
  for (const state::MapHistory::SharedStay &S : Maps.sharedStays()) {
    if (S.First > LastPage || S.Last < FirstPage)
      continue;
    const uint64_t From = std::max(S.First, FirstPage),
                   To = std::min(S.Last, LastPage);
    add(Chunks, From, To, S.Frame + (From - S.First), Range, S.Since, S.Until);
    Moves.push_back(S.Since);
    if (S.Until != ~BlockNumber(0))
      Moves.push_back(S.Until);
  }
  llvm::stable_sort(Frames, [](const Frame &A, const Frame &B) {
    return A.Number < B.Number;
  });
  llvm::sort(Moves);
  Moves.erase(llvm::unique(Moves), Moves.end());
}

bool WatchedFrames::movesIn(BlockNumber N) const {
  return std::binary_search(Moves.begin(), Moves.end(), N);
}

ArrayRef<WatchedFrames::Frame> WatchedFrames::from(FrameNumber Number) const {
  return ArrayRef(Frames).drop_front(
      partition_point(Frames,
                      [&](const Frame &F) { return F.Number < Number; }) -
      Frames.begin());
}

bool WatchedFrames::covers(FrameNumber Number, BlockNumber N,
                           const uint64_t Written[GranuleWords]) const {
  for (const Frame &F : from(Number)) {
    if (F.Number != Number)
      break;
    if (F.watchedIn(N) && F.covers(Written))
      return true;
  }
  return false;
}

bool WatchedFrames::includes(FrameNumber First, FrameNumber Last,
                             BlockNumber N) const {
  for (const Frame &F : from(First)) {
    if (F.Number > Last)
      break;
    if (F.watchedIn(N))
      return true;
  }
  return false;
}

} // namespace chronicle::search
