// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A moment inside a block from which replay can continue.

#ifndef CHRONICLE_QUERY_STATE_CHECKPOINT_H
#define CHRONICLE_QUERY_STATE_CHECKPOINT_H

#include "query/replay/ReplayPosition.h"
#include "query/replay/machine/ReplayMemory.h"
#include <array>

namespace chronicle::state {

using PageBytes = std::array<uint8_t, PageSize>;

/// A moment inside a block from which replay can continue, and what happened to
/// memory since the checkpoint before it (or since the start of the block).
struct Checkpoint {
  struct Change {
    const uint8_t *Page;             ///< at this checkpoint
    uint64_t Granules[GranuleWords]; ///< written since the one before
    bool Zeroed;                     ///< became zero since, before the writes
  };
  replay::ReplayPosition Position;
  std::vector<machine::FrameFill> Fills; ///< happened before Changes
  llvm::DenseMap<FrameNumber, Change> Changes;
  std::unique_ptr<PageBytes[]> Pages; ///< what Changes point to
  std::vector<machine::ReplayMemory::SharedRange> Shared;
};

/// More instructions than any superblock has.
constexpr uint64_t LongestSuperblock = 512;

} // namespace chronicle::state

#endif
