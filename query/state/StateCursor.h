// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The state of the program at a moment, ready to go on from.

#ifndef CHRONICLE_QUERY_STATE_STATECURSOR_H
#define CHRONICLE_QUERY_STATE_STATECURSOR_H

#include "query/state/CheckpointedReplay.h"

namespace chronicle::state {

class StateCache;

/// A moment of one block, from which it goes forward. Belongs to one thread.
/// When it is destroyed, its replay goes back to the cache, and the hooks that
/// were set on the replayer are taken off.
class StateCursor {
public:
  StateCursor(StateCursor &&);
  StateCursor &operator=(StateCursor &&) = delete;
  ~StateCursor();

  const Block &block() const;
  BlockHistory &history() const;
  replay::BlockReplayer &replayer();
  machine::ReplayMemory &memory();
  Timestamp time() const;

  /// Goes on to the state at T, or to the end of the block, after its last
  /// event, if T is beyond. T must not be in the past of the cursor.
  llvm::Error runTo(Timestamp T);
  /// Goes on to the place of the next checkpoint and makes it, if it does not
  /// exist yet and is before T. False: it is not so, and nothing happened.
  llvm::Expected<bool> passCheckpoint(Timestamp T);
  llvm::Error runToEnd() { return runTo(~Timestamp(0)); }
  /// Goes on to the end of the superblock if the cursor is inside one.
  llvm::Error finishSuperblock();
  /// Reads memory as it is now, page by page, without keeping pages that replay
  /// does not need.
  llvm::Error read(uint64_t Address, llvm::MutableArrayRef<uint8_t> Into);
  llvm::Error readFrame(FrameNumber Frame, uint8_t *Page);

private:
  friend class StateCache;
  StateCursor(StateCache &Cache, std::unique_ptr<CheckpointedReplay> Replay);

  StateCache *Cache;
  std::unique_ptr<CheckpointedReplay> Replay;
};

} // namespace chronicle::state

#endif
