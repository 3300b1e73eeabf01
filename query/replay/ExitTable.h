// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The superblocks that exits belong to.

#ifndef CHRONICLE_QUERY_REPLAY_EXITTABLE_H
#define CHRONICLE_QUERY_REPLAY_EXITTABLE_H

#include "trace-format/file/TraceReader.h"
#include <vector>

namespace chronicle::replay {

/// What a symbol of a block's sequence means: which superblock ran, and by
/// which of its exits it was left. Takes four bytes per exit and per
/// superblock; made once per trace.
class ExitTable {
public:
  explicit ExitTable(const file::TraceReader &Trace);
  /// For tests: how many exits (side exits plus one) superblocks 0, 1, ...
  /// have; 0 for a superblock that does not exist.
  explicit ExitTable(llvm::ArrayRef<uint32_t> ExitsOfSuperblock);

  uint32_t size() const { return static_cast<uint32_t>(Superblocks.size()); }
  uint32_t superblock(uint32_t Exit) const { return Superblocks[Exit]; }
  uint32_t ordinal(uint32_t Exit) const {
    return Exit - FirstExits[Superblocks[Exit]] + 1;
  }
  uint32_t firstExit(uint32_t Superblock) const {
    return FirstExits[Superblock];
  }

private:
  std::vector<uint32_t> Superblocks; ///< by exit
  std::vector<uint32_t> FirstExits;  ///< by superblock
};

} // namespace chronicle::replay

#endif
