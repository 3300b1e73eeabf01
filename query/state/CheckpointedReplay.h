// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A replay that makes checkpoints.

#ifndef CHRONICLE_QUERY_STATE_CHECKPOINTEDREPLAY_H
#define CHRONICLE_QUERY_STATE_CHECKPOINTEDREPLAY_H

#include "query/state/HistoryPages.h"

namespace chronicle::state {

/// A replay of one block after the other. It goes forward from a checkpoint and
/// adds checkpoints to the block's history as it passes the places for them.
/// One thread at a time.
class CheckpointedReplay {
public:
  CheckpointedReplay(const file::TraceReader &Reader,
                     program::ProgramCache &Programs,
                     const replay::ExitTable &Exits);
  ~CheckpointedReplay();

  /// Goes to checkpoint I of a block.
  void restore(std::shared_ptr<BlockHistory> H, size_t I);
  /// As StateCursor.
  llvm::Error runTo(Timestamp T);
  llvm::Expected<bool> passCheckpoint(Timestamp T);
  llvm::Error finishSuperblock();
  llvm::Error readFrame(FrameNumber Frame, uint8_t *Page);
  /// Forgets the block if its replay failed: what follows would be meaningless.
  void forgetIfBroken();
  /// Takes off the hooks that were set on the replayer.
  void clearHooks();

  const std::shared_ptr<BlockHistory> &history() const { return History; }
  replay::BlockReplayer &replayer() { return Replayer; }
  machine::ReplayMemory &memory() { return Memory; }

  /// Adds its size to a total, from which it goes when this is destroyed.
  /// Called again, it corrects what it added.
  void countIn(std::atomic<uint64_t> &Sum);
  /// What countIn() added.
  uint64_t counted() const { return Counted; }

private:
  llvm::Error advance(Timestamp T);
  void makeCheckpoint();
  llvm::Error failed();
  uint64_t bytes() const;

  const file::TraceReader &Reader;
  const replay::ExitTable &Exits;
  HistoryPages Pages;
  machine::ReplayMemory Memory;
  replay::BlockReplayer Replayer;
  std::shared_ptr<BlockHistory> History;
  /// The checkpoint since which Memory's granules are dirty.
  size_t Checkpoint = 0;
  Timestamp CheckpointTime = 0;
  bool Broken = false;
  replay::Mismatch Last;
  uint64_t Counted = 0;
  std::atomic<uint64_t> *Total = nullptr;
};

} // namespace chronicle::state

#endif
