// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which threads there were, from when to when, and in which blocks they ran.

#ifndef CHRONICLE_QUERY_THREADHISTORY_H
#define CHRONICLE_QUERY_THREADHISTORY_H

#include "query/Trace.h"
#include "llvm/ADT/DenseMap.h"

namespace chronicle {

/// Making it costs one pass over the timeline and the table of blocks, and four
/// to eight bytes a block; asking costs a binary search.
class ThreadHistory {
public:
  explicit ThreadHistory(const TraceReader &Reader);

  /// In order of their numbers.
  llvm::ArrayRef<ThreadInfo> all() const { return Threads; }
  const ThreadInfo *find(uint32_t Thread) const;
  /// Those started and not yet gone at T.
  std::vector<ThreadInfo> at(Timestamp T) const;

  /// The blocks that have a snapshot of the thread: those it ran in, that it
  /// ended in, and the last of the run.
  llvm::ArrayRef<BlockNumber> blocksOf(uint32_t Thread) const;
  /// The first of them from N on; the last one before N.
  std::optional<BlockNumber> nextBlock(uint32_t Thread, BlockNumber N) const;
  std::optional<BlockNumber> previousBlock(uint32_t Thread,
                                           BlockNumber N) const;

private:
  std::vector<ThreadInfo> Threads;
  llvm::DenseMap<uint32_t, std::vector<BlockNumber>> Blocks;
};

} // namespace chronicle

#endif
