// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The blocks that may have written or read a range of memory, from the
/// granules of chunks, without replay.

#ifndef CHRONICLE_QUERY_SEARCH_BLOCKCANDIDATES_H
#define CHRONICLE_QUERY_SEARCH_BLOCKCANDIDATES_H

#include "query/answers/Cancellation.h"
#include "query/search/WatchedFrames.h"
#include <functional>
#include <optional>
#include <queue>

namespace chronicle::search {

/// Which granules were touched when: chunks, sorted by frame, then first block.
struct ChunkSource {
  llvm::ArrayRef<PageChunkEntry> Chunks;
  const state::ChunkSummaries &Summaries;
  /// Adds the blocks from First to Last that touch granules of the frame,
  /// according to one chunk, in order. Some may be named twice in a row.
  std::function<llvm::Error(const PageChunkEntry &,
                            const WatchedFrames::Frame &, BlockNumber First,
                            BlockNumber Last, std::vector<BlockNumber> &)>
      Blocks;
};

/// The page chunks: what was written.
ChunkSource writtenChunks(const file::TraceReader &Reader,
                          const state::ChunkSummaries &Summaries);

/// Goes through those blocks in order, each once. Costs a search in the
/// summaries of the chunks for each frame, and one chunk for each hit.
class BlockCandidates {
public:
  /// Looks at blocks First to Last, from the last one on if Backward.
  /// Others are blocks that may touch the range although no chunk says so,
  /// sorted.
  BlockCandidates(ChunkSource Source, const WatchedFrames &Watched,
                  BlockNumber First, BlockNumber Last, bool Backward,
                  llvm::ArrayRef<BlockNumber> Others = {});
  /// Visits the candidates until Visit returns false, or until cancelled.
  llvm::Error visit(llvm::function_ref<llvm::Expected<bool>(BlockNumber)> Visit,
                    const answers::Cancellation *Cancel);

private:
  llvm::Expected<std::optional<BlockNumber>> next();
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

  const ChunkSource Source;
  const bool Backward;
  std::vector<Place> Places;
  std::priority_queue<Item, std::vector<Item>, Later> Queue;
  std::vector<BlockNumber> Others; ///< next one last
  std::optional<BlockNumber> Previous;
};

} // namespace chronicle::search

#endif
