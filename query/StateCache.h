// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The state of the program at any moment, ready to go on from: replays of
/// blocks, cached.

#ifndef CHRONICLE_QUERY_STATECACHE_H
#define CHRONICLE_QUERY_STATECACHE_H

#include "query/ChunkSummaries.h"
#include "query/MapAt.h"
#include "query/StateHistory.h"
#include "query/ThreadHistory.h"
#include <list>

namespace chronicle {

class StateCache;

/// A replay of one block, at some moment of it, that goes forward. Belongs to
/// one thread; its replay goes back to the cache when it is destroyed, and the
/// hooks set on the replayer are taken off.
class StateCursor {
public:
  StateCursor(StateCursor &&);
  StateCursor &operator=(StateCursor &&) = delete;
  ~StateCursor();

  const Block &block() const;
  BlockHistory &history() const;
  BlockReplayer &replayer();
  ReplayMemory &memory();
  Timestamp time() const;

  /// Goes on to the state at T, or to the end of the block if T is beyond,
  /// after its last event. T must not be behind.
  llvm::Error runTo(Timestamp T);
  /// Goes on to the next checkpoint, if that is a new one and before T. False:
  /// it is not, and nothing happened.
  llvm::Expected<bool> passCheckpoint(Timestamp T);
  llvm::Error runToEnd() { return runTo(~Timestamp(0)); }
  /// Goes on to the end of the superblock under way, if one is.
  llvm::Error finishSuperblock();
  /// Memory now, page by page, without keeping what replay does not need.
  llvm::Error read(uint64_t Address, llvm::MutableArrayRef<uint8_t> Into);
  llvm::Error readFrame(FrameNumber Frame, uint8_t *Page);

private:
  friend class StateCache;
  struct Engine;
  StateCursor(StateCache &Cache, std::unique_ptr<Engine> E);

  StateCache *Cache;
  std::unique_ptr<Engine> E;
};

/// More instructions than any superblock has.
constexpr uint64_t LongestSuperblock = 512;

/// Hands out cursors. The first one in a block replays from its start; later
/// ones go on from the nearest checkpoint (one every 10,000 instructions) or
/// from a replay that stopped there. Keeps to Bytes, but for what is in use and
/// one idle replay. May be used from several threads at once.
class StateCache {
public:
  StateCache(const TraceReader &Reader, uint64_t Bytes);
  ~StateCache();

  const TraceReader &reader() const { return Reader; }
  ProgramCache &programs() { return Programs; }
  const ExitTable &exits() const { return Exits; }
  const MapHistory &maps() const { return Maps; }
  const ThreadHistory &threads() const { return Threads; }
  const ChunkSummaries &chunkSummaries() const { return Summaries; }

  /// The block, decoded.
  llvm::Expected<std::shared_ptr<const Block>> block(BlockNumber N);
  llvm::Expected<std::shared_ptr<BlockHistory>> history(BlockNumber N);

  /// The state at T. T <= instructions.
  llvm::Expected<StateCursor> at(Timestamp T);
  /// The same in block N: where blocks meet, its end or its start. With T
  /// beyond it, its end.
  llvm::Expected<StateCursor> in(BlockNumber N, Timestamp T);
  /// At the start of block N, before its first event.
  llvm::Expected<StateCursor> atBlock(BlockNumber N);
  /// At a checkpoint of a block.
  llvm::Expected<StateCursor> atCheckpoint(std::shared_ptr<BlockHistory> H,
                                           size_t Checkpoint);

  /// What is kept, in use or not.
  uint64_t bytes() const { return Total; }

private:
  friend class StateCursor;
  using Engine = StateCursor::Engine;
  std::unique_ptr<Engine> takeIdle();
  void giveBack(std::unique_ptr<Engine> E);
  void trim();

  const TraceReader &Reader;
  const uint64_t Budget;
  ExitTable Exits;
  ProgramCache Programs;
  MapHistory Maps;
  ThreadHistory Threads;
  ChunkSummaries Summaries;
  std::atomic<uint64_t> Total = 0;
  std::mutex Lock;
  /// Latest last.
  std::list<std::shared_ptr<BlockHistory>> Recent;
  llvm::DenseMap<BlockNumber, decltype(Recent)::iterator> Histories;
  std::vector<std::unique_ptr<Engine>> Idle;
};

} // namespace chronicle

#endif
