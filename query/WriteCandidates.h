// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which blocks may have written a range of memory: from the granules of the
/// page chunks, without replay.

#ifndef CHRONICLE_QUERY_WRITECANDIDATES_H
#define CHRONICLE_QUERY_WRITECANDIDATES_H

#include "query/ChunkSummaries.h"
#include "query/MapAt.h"
#include <queue>

namespace chronicle {

/// The frames that a range of addresses stands for, over the whole run, and
/// which of their granules it covers. Only frames that were ever written.
class WatchedFrames {
public:
  struct Frame {
    FrameNumber Number;
    uint64_t Granules[GranuleWords];
    /// In which blocks the range stands for it.
    BlockNumber Since, Until;
    bool watchedIn(BlockNumber N) const { return Since <= N && N <= Until; }
    bool covers(const uint64_t Written[GranuleWords]) const {
      return intersect(Granules, Written);
    }
  };
  WatchedFrames(const TraceReader &Reader, const MapHistory &Maps,
                AddressRange Range);

  llvm::ArrayRef<Frame> frames() const { return Frames; }
  /// Whether block N writes these granules of the frame, as far as watched.
  bool covers(FrameNumber Number, BlockNumber N,
              const uint64_t Written[GranuleWords]) const;
  /// Whether it watches any of the frames First to Last in block N.
  bool includes(FrameNumber First, FrameNumber Last, BlockNumber N) const;
  /// Blocks in which shared memory comes to the range or goes, sorted: what is
  /// seen there changes, though nobody may have written anything.
  llvm::ArrayRef<BlockNumber> moves() const { return Moves; }
  bool movesIn(BlockNumber N) const;

private:
  void add(const TraceReader &Reader, uint64_t FirstPage, uint64_t LastPage,
           FrameNumber First, AddressRange Range, BlockNumber Since,
           BlockNumber Until);
  llvm::ArrayRef<Frame> from(FrameNumber Number) const;
  std::vector<Frame> Frames; ///< sorted by number
  std::vector<BlockNumber> Moves;
};

/// Blocks in order, each once. Costs a search in the chunks' summaries for each
/// frame, and one page chunk where they say yes.
class WriteCandidates {
public:
  /// Blocks from First to Last, from the end if Backward.
  WriteCandidates(const TraceReader &Reader, const ChunkSummaries &Summaries,
                  const WatchedFrames &Watched, BlockNumber First,
                  BlockNumber Last, bool Backward);
  llvm::Expected<std::optional<BlockNumber>> next();

private:
  /// A frame's place in its history. Blocks are those of one chunk, the next
  /// one last.
  struct Place {
    const WatchedFrames::Frame *Frame;
    size_t Chunk, EndChunk; ///< not yet looked into
    std::vector<BlockNumber> Blocks;
    BlockNumber First, Last;
  };
  struct Item {
    BlockNumber Block; ///< the next one, or the best it can be
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

  const TraceReader &Reader;
  const ChunkSummaries &Summaries;
  const bool Backward;
  std::vector<Place> Places;
  std::priority_queue<Item, std::vector<Item>, Later> Queue;
  std::vector<BlockNumber> Moves; ///< and untold stores; the next one last
  std::optional<BlockNumber> Previous;
};

} // namespace chronicle

#endif
