// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The state of the program at any moment: replays of blocks, cached.

#ifndef CHRONICLE_QUERY_STATE_STATECACHE_H
#define CHRONICLE_QUERY_STATE_STATECACHE_H

#include "query/state/ChunkSummaries.h"
#include "query/state/MapHistory.h"
#include "query/state/RecentPieces.h"
#include "query/state/StateCursor.h"
#include "query/state/ThreadHistory.h"
#include <list>

namespace chronicle::state {

/// Hands out cursors. The first one in a block replays from its start; later
/// ones start at the nearest checkpoint (there is one every 25,000
/// instructions) or where another replay stopped. Keeps no more than Bytes,
/// apart from what is in use and one idle replay. May be used from several
/// threads at once.
class StateCache {
public:
  StateCache(const file::TraceReader &Reader, uint64_t Bytes);
  ~StateCache();

  const file::TraceReader &reader() const { return Reader; }
  program::ProgramCache &programs() { return Programs; }
  const replay::ExitTable &exits() const { return Exits; }
  const MapHistory &maps() const { return Maps; }
  const ThreadHistory &threads() const { return Threads; }
  const ChunkSummaries &chunkSummaries() const { return Summaries; }
  RecentPieces &pieces() { return Pieces; }

  /// Block N, decoded.
  llvm::Expected<std::shared_ptr<const Block>> block(BlockNumber N);
  llvm::Expected<std::shared_ptr<BlockHistory>> history(BlockNumber N);

  /// The state at T. Fails if the run is over before T.
  llvm::Expected<StateCursor> at(Timestamp T);
  /// The state at T in block N, which matters where blocks meet: the end of one
  /// block has the time of the start of the next. If T is beyond the block, the
  /// state is that at its end.
  llvm::Expected<StateCursor> in(BlockNumber N, Timestamp T);
  /// At the start of block N, before its first event.
  llvm::Expected<StateCursor> atBlock(BlockNumber N);
  /// At a checkpoint of a block.
  llvm::Expected<StateCursor> atCheckpoint(std::shared_ptr<BlockHistory> H,
                                           size_t Checkpoint);

  /// The size of all that is kept, in use or not.
  uint64_t bytes() const { return Total; }

private:
  friend class StateCursor;
  std::unique_ptr<CheckpointedReplay> takeIdle();
  void giveBack(std::unique_ptr<CheckpointedReplay> Replay);
  void trim();

  const file::TraceReader &Reader;
  const uint64_t Budget;
  replay::ExitTable Exits;
  program::ProgramCache Programs;
  MapHistory Maps;
  ThreadHistory Threads;
  ChunkSummaries Summaries;
  RecentPieces Pieces;
  std::atomic<uint64_t> Total = 0;
  std::mutex Lock;
  /// The most recently used one is last.
  std::list<std::shared_ptr<BlockHistory>> Recent;
  llvm::DenseMap<BlockNumber, decltype(Recent)::iterator> Histories;
  std::vector<std::unique_ptr<CheckpointedReplay>> Idle;
};

} // namespace chronicle::state

#endif
