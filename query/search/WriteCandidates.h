// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The blocks that may have written a range of memory, from the granules of the
/// page chunks, without replay.

#ifndef CHRONICLE_QUERY_SEARCH_WRITECANDIDATES_H
#define CHRONICLE_QUERY_SEARCH_WRITECANDIDATES_H

#include "query/search/WatchedFrames.h"
#include <optional>
#include <queue>

namespace chronicle::search {

/// Goes through those blocks in order, each once. Costs a search in the
/// summaries of the chunks for each frame, and one page chunk for each hit.
class WriteCandidates {
public:
  /// Looks at blocks First to Last, from the last one on if Backward.
  WriteCandidates(const file::TraceReader &Reader,
                  const state::ChunkSummaries &Summaries,
                  const WatchedFrames &Watched, BlockNumber First,
                  BlockNumber Last, bool Backward);
  llvm::Expected<std::optional<BlockNumber>> next();

private:
  /// A frame's place in its history. Blocks are those of one chunk; the next
  /// one is at the end.
  struct Place {
    const WatchedFrames::Frame *Frame;
    size_t Chunk, EndChunk; ///< those not yet read
    std::vector<BlockNumber> Blocks;
    BlockNumber First, Last;
  };
  struct Item {
    BlockNumber Block; ///< the next one, or the nearest that it can be
    size_t Place;
  };
  struct Later {
    bool Backward;
    bool operator()(const Item &A, const Item &B) const {
      return Backward ? A.Block < B.Block : A.Block > B.Block;
    }
  };

  void enqueue(size_t I);
  llvm::Error open(Place &P);

  const file::TraceReader &Reader;
  const state::ChunkSummaries &Summaries;
  const bool Backward;
  std::vector<Place> Places;
  std::priority_queue<Item, std::vector<Item>, Later> Queue;
  std::vector<BlockNumber>
      Moves; ///< also a last block without logged stores; next one last
  std::optional<BlockNumber> Previous;
};

} // namespace chronicle::search

#endif
