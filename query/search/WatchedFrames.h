// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The frames that a range of addresses stands for.

#ifndef CHRONICLE_QUERY_SEARCH_WATCHEDFRAMES_H
#define CHRONICLE_QUERY_SEARCH_WATCHEDFRAMES_H

#include "query/answers/Ranges.h"
#include "query/state/ChunkSummaries.h"
#include "query/state/MapHistory.h"

namespace chronicle::search {

/// The frames that a range of addresses stands for over the whole run, and
/// which of their granules it covers. Frames without a chunk are left out.
class WatchedFrames {
public:
  struct Frame {
    FrameNumber Number;
    uint64_t Granules[GranuleWords];
    /// The blocks in which the range stands for the frame.
    BlockNumber Since, Until;
    bool watchedIn(BlockNumber N) const { return Since <= N && N <= Until; }
    bool covers(const uint64_t Written[GranuleWords]) const {
      return state::intersect(Granules, Written);
    }
  };
  /// The chunks say which frames there are; they are sorted by frame.
  WatchedFrames(llvm::ArrayRef<PageChunkEntry> Chunks,
                const state::MapHistory &Maps, answers::AddressRange Range);

  llvm::ArrayRef<Frame> frames() const { return Frames; }
  /// Whether any of the granules written in block N is watched there.
  bool covers(FrameNumber Number, BlockNumber N,
              const uint64_t Written[GranuleWords]) const;
  /// Whether it watches any of the frames First to Last in block N.
  bool includes(FrameNumber First, FrameNumber Last, BlockNumber N) const;
  /// Blocks in which shared memory is mapped to the range or unmapped from it,
  /// sorted. What the program sees there changes, even if nothing is written.
  llvm::ArrayRef<BlockNumber> moves() const { return Moves; }
  bool movesIn(BlockNumber N) const;

private:
  void add(llvm::ArrayRef<PageChunkEntry> Chunks, uint64_t FirstPage,
           uint64_t LastPage, FrameNumber First, answers::AddressRange Range,
           BlockNumber Since, BlockNumber Until);
  llvm::ArrayRef<Frame> from(FrameNumber Number) const;
  std::vector<Frame> Frames; ///< sorted by number
  std::vector<BlockNumber> Moves;
};

} // namespace chronicle::search

#endif
