// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Which threads there were, from when to when, and in which blocks they ran.

#ifndef CHRONICLE_QUERY_THREADHISTORY_H
#define CHRONICLE_QUERY_THREADHISTORY_H

#include "query/Trace.h"

namespace chronicle {

/// Making it costs one pass over the timeline; asking costs a binary search.
class ThreadHistory {
public:
  /// The reader must outlive it.
  explicit ThreadHistory(const TraceReader &Reader);

  /// In order of their numbers.
  llvm::ArrayRef<ThreadInfo> all() const { return Threads; }
  const ThreadInfo *find(uint32_t Thread) const;
  /// Those started and not yet gone at T.
  std::vector<ThreadInfo> at(Timestamp T) const;

  /// Of the blocks that have a snapshot of the thread (TraceReader::blocksOf):
  /// the first from N on; the last one before N.
  std::optional<BlockNumber> nextBlock(uint32_t Thread, BlockNumber N) const;
  std::optional<BlockNumber> previousBlock(uint32_t Thread,
                                           BlockNumber N) const;

private:
  std::vector<ThreadInfo> Threads;
  const TraceReader &Reader;
};

} // namespace chronicle

#endif
