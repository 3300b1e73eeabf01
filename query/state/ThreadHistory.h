// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The threads of a run: from when to when they existed, and in which blocks.

#ifndef CHRONICLE_QUERY_STATE_THREADHISTORY_H
#define CHRONICLE_QUERY_STATE_THREADHISTORY_H

#include "query/answers/ThreadInfo.h"
#include "trace-format/file/TraceReader.h"

namespace chronicle::state {

/// Making it costs one pass over the timeline; a question costs a binary
/// search.
///
/// The end of a run is a moment like any other: threads that ended only because
/// the whole program did (a fatal signal, an exit, an exec) are alive then, as
/// they are in a core file, and have no Exited.
class ThreadHistory {
public:
  /// The reader must outlive it.
  explicit ThreadHistory(const file::TraceReader &Reader);

  /// In order of their numbers.
  llvm::ArrayRef<answers::ThreadInfo> all() const { return Threads; }
  const answers::ThreadInfo *find(uint32_t Thread) const;
  /// Threads that have started and not yet ended at T.
  std::vector<answers::ThreadInfo> at(Timestamp T) const;
  /// The thread that the signal hit that ended the run; 0: no signal did.
  uint32_t killed() const { return Killed; }

  /// The first block from N on, and the last one before N, that has a snapshot
  /// of the thread (TraceReader::blocksOf).
  std::optional<BlockNumber> nextBlock(uint32_t Thread, BlockNumber N) const;
  std::optional<BlockNumber> previousBlock(uint32_t Thread,
                                           BlockNumber N) const;

private:
  void keepAliveAtEnd();

  std::vector<answers::ThreadInfo> Threads;
  uint32_t Killed = 0;
  const file::TraceReader &Reader;
};

} // namespace chronicle::state

#endif
