// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What is kept about a block that was asked about: the block itself, the pages
/// that replay needed, and the checkpoints inside it.

#ifndef CHRONICLE_QUERY_STATE_BLOCKHISTORY_H
#define CHRONICLE_QUERY_STATE_BLOCKHISTORY_H

#include "query/replay/BlockReplayer.h"
#include "query/state/Checkpoint.h"
#include <atomic>
#include <mutex>

namespace chronicle::state {

/// One block. It grows while it is used; bytes() is its size. May be used from
/// several threads at once.
class BlockHistory {
public:
  /// Total is the sum of the bytes of all histories that share it.
  BlockHistory(const file::TraceReader &Reader, Block Decoded,
               std::vector<machine::ReplayMemory::SharedRange> Shared,
               std::atomic<uint64_t> &Total);
  ~BlockHistory();
  BlockHistory(const BlockHistory &) = delete;
  BlockHistory &operator=(const BlockHistory &) = delete;

  const Block &block() const { return B; }
  Timestamp endTime() const { return B.First + B.Instructions; }

  /// Checkpoint 0 is the start of the block, before its first event.
  size_t checkpoints() const;
  const Checkpoint &checkpoint(size_t I) const;
  /// The last one at or before T.
  size_t checkpointBefore(Timestamp T) const;
  /// Whether the last one is the end of the block, after its last event.
  bool complete() const;
  /// Adds one where the replayer is, if the last one still has the number
  /// After. The dirty granules of Memory must be the writes since that one.
  /// False: another thread was faster.
  bool addCheckpoint(size_t After, const replay::BlockReplayer &Replayer,
                     const machine::ReplayMemory &Memory);

  /// The frame at checkpoint I, read if necessary and kept as long as the
  /// history: another replay will probably want it too. Null: it was never
  /// written, or only readFrame() knows.
  llvm::Expected<const uint8_t *> page(FrameNumber Frame, size_t I);
  /// Copies the frame to Page without keeping it. False: it was never written.
  llvm::Expected<bool> readFrame(FrameNumber Frame, size_t I, uint8_t *Page);
  /// Copies to Page what a fill puts into the frame.
  llvm::Expected<bool> readFilled(const machine::FrameFill &Fill,
                                  FrameNumber Frame, uint8_t *Page) const;

  uint64_t bytes() const { return Bytes; }

private:
  /// A page that is kept here: null if it was never written, nothing if it has
  /// to be read; if Fill is set, it is what that fill puts there.
  std::optional<const uint8_t *>
  findPage(FrameNumber Frame, size_t I, const machine::FrameFill *&Fill) const;
  void grow(uint64_t By);

  const file::TraceReader &Reader;
  const Block B;
  std::atomic<uint64_t> &Total;
  std::atomic<uint64_t> Bytes = 0;
  mutable std::mutex Lock;
  std::vector<std::unique_ptr<const Checkpoint>> Checkpoints;
  bool Complete = false;
  /// Frames at the start of the block; null: never written.
  llvm::DenseMap<FrameNumber, const uint8_t *> Pages;
  /// The memory that Pages point to.
  static constexpr size_t SlabPages = 16;
  std::vector<std::unique_ptr<PageBytes[]>> Slabs;
  size_t SlabUsed = SlabPages; ///< of the last slab
};

} // namespace chronicle::state

#endif
