// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The writes of one block to a range of memory.

#ifndef CHRONICLE_QUERY_SEARCH_BLOCKWRITES_H
#define CHRONICLE_QUERY_SEARCH_BLOCKWRITES_H

#include "query/answers/Cancellation.h"
#include "query/answers/Write.h"
#include "query/search/HitFinder.h"
#include "query/search/WatchedFrames.h"
#include "query/state/StateCache.h"

namespace chronicle::search {

/// Finds the writes of one block to the range. In a block without checkpoints,
/// one replay finds the superblocks and events that touch the range; forward it
/// goes no further than the visitor wants. Where there are checkpoints, only
/// the stretches between them that wrote the granules are replayed. A second
/// replay, from the checkpoint before, turns what was found into writes.
class BlockWrites {
public:
  BlockWrites(state::StateCache &Cache, const WatchedFrames &Watched,
              answers::AddressRange Range, answers::TimeRange When,
              BlockNumber N, bool Backward,
              llvm::function_ref<bool(const answers::Write &)> Visit,
              const answers::Cancellation *Cancel)
      : Cache(Cache), Watched(Watched), Range(Range), When(When), N(N),
        Backward(Backward), Visit(Visit), Cancel(Cancel) {}

  /// False: the visitor has seen enough.
  llvm::Expected<bool> visit();

private:
  bool isWritten(size_t Interval) const;
  size_t checkpointOf(const Hit &H) const;
  llvm::Expected<bool> search(size_t From, Timestamp Stop);
  llvm::Expected<bool> show(llvm::ArrayRef<Hit> Hits);
  llvm::Expected<bool> show(size_t Checkpoint, llvm::ArrayRef<Hit> Hits);
  bool show(const answers::Write &W) {
    return W.Time < When.First || W.Time > When.Last || Visit(W);
  }

  state::StateCache &Cache;
  const WatchedFrames &Watched;
  const answers::AddressRange Range;
  const answers::TimeRange When;
  const BlockNumber N;
  const bool Backward;
  const llvm::function_ref<bool(const answers::Write &)> Visit;
  const answers::Cancellation *Cancel;
  std::shared_ptr<state::BlockHistory> History;
  /// How many hits become writes at once. Most backward searches want one
  /// write, so this starts with one; it grows for searches that want all.
  size_t Most = 1;
};

} // namespace chronicle::search

#endif
