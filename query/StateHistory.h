// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What is kept about a block that was asked about: itself, the pages replay
/// needed, and checkpoints inside it.

#ifndef CHRONICLE_QUERY_STATEHISTORY_H
#define CHRONICLE_QUERY_STATEHISTORY_H

#include "query/BlockReplayer.h"
#include "query/TracePages.h"
#include <atomic>
#include <mutex>

namespace chronicle {

using PageBytes = std::array<uint8_t, PageSize>;

/// A moment inside a block from which replay can go on, and what happened to
/// memory since the checkpoint before it (or the start of the block).
struct Checkpoint {
  struct Change {
    const uint8_t *Page;             ///< as it is now
    uint64_t Granules[GranuleWords]; ///< written since
    bool Zeroed;                     ///< became zero since, before the writes
  };
  ReplayPosition Position;
  std::vector<FrameFill> Fills; ///< since; Changes came after them
  llvm::DenseMap<FrameNumber, Change> Changes;
  std::unique_ptr<PageBytes[]> Pages; ///< of the changes
  std::vector<ReplayMemory::SharedRange> Shared;
};

/// One block. Grows while it is used; bytes() says how large it is. May be used
/// from several threads at once.
class BlockHistory {
public:
  /// Total is kept up to date with the bytes of all that share it.
  BlockHistory(const TraceReader &Reader, Block Decoded,
               std::vector<ReplayMemory::SharedRange> Shared,
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
  /// Adds one if the last is still number After. Memory has the writes since
  /// that one as dirty.
  bool addCheckpoint(size_t After, const BlockReplayer &Replayer,
                     const ReplayMemory &Memory);

  /// The frame at checkpoint I, read if need be and kept as long as this is:
  /// another replay will probably want it too. Null: never written, or only
  /// readFrame can tell.
  llvm::Expected<const uint8_t *> page(FrameNumber Frame, size_t I);
  /// The same into Page, without keeping it; false: never written.
  llvm::Expected<bool> readFrame(FrameNumber Frame, size_t I, uint8_t *Page);
  /// A frame after a fill.
  llvm::Expected<bool> readFilled(const FrameFill &Fill, FrameNumber Frame,
                                  uint8_t *Page) const;

  uint64_t bytes() const { return Bytes; }

private:
  /// A page that is here: null if it was never written, nothing if it has to be
  /// read, after Fill if that is set.
  std::optional<const uint8_t *> findPage(FrameNumber Frame, size_t I,
                                          const FrameFill *&Fill) const;
  void grow(uint64_t By);

  const TraceReader &Reader;
  const Block B;
  std::atomic<uint64_t> &Total;
  std::atomic<uint64_t> Bytes = 0;
  mutable std::mutex Lock;
  std::vector<std::unique_ptr<const Checkpoint>> Checkpoints;
  bool Complete = false;
  /// At the start of the block; null: never written.
  llvm::DenseMap<FrameNumber, const uint8_t *> Pages;
  /// What those are in.
  static constexpr size_t SlabPages = 16;
  std::vector<std::unique_ptr<PageBytes[]>> Slabs;
  size_t SlabUsed = SlabPages; ///< of the last slab
};

/// The memory of a block's replay that starts at one of its checkpoints.
class HistoryPages : public PageSource {
public:
  explicit HistoryPages(const TraceReader &Reader) : Fallback(Reader) {}
  void setStart(BlockHistory &H, size_t Checkpoint) {
    History = &H;
    Start = Checkpoint;
  }
  llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                 uint8_t *Page) override;
  llvm::Expected<const uint8_t *> lendFrame(FrameNumber Frame,
                                            BlockNumber N) override;
  void visitFrames(FrameNumber First, FrameNumber Last,
                   llvm::function_ref<void(FrameNumber)> Visit) override;

private:
  TracePages Fallback;
  BlockHistory *History = nullptr;
  size_t Start = 0;
};

} // namespace chronicle

#endif
