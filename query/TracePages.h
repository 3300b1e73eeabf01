// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace's memory for replay: frames at block starts, and what each block did
/// to a frame.

#ifndef CHRONICLE_QUERY_TRACEPAGES_H
#define CHRONICLE_QUERY_TRACEPAGES_H

#include "query/ReplayMemory.h"
#include "trace-format/TraceReader.h"

namespace chronicle {

/// Frames from the page chunks: one chunk read each.
class TracePages : public PageSource {
public:
  explicit TracePages(const TraceReader &Trace) : Trace(Trace) {}
  llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                 uint8_t *Page) override;
  void visitFrames(FrameNumber First, FrameNumber Last,
                   llvm::function_ref<void(FrameNumber)> Visit) override;

private:
  const TraceReader &Trace;
};

/// Brings the translation of shared objects to the start of block N.
void mapSharedObjects(const TraceReader &Trace, BlockNumber N,
                      ReplayMemory &Memory);

/// The deltas of frames, asked for in the order of blocks: keeps the chunk of
/// each frame it was asked about, so that each is decoded once.
class DeltaCursor {
public:
  explicit DeltaCursor(const TraceReader &Trace) : Trace(Trace) {}
  /// What block N did to a frame; valid until the next call.
  struct Change {
    llvm::ArrayRef<PageDelta> Deltas;
    const uint8_t *After = nullptr; ///< the page then; null if no deltas
  };
  llvm::Expected<Change> change(FrameNumber Frame, BlockNumber N);
  /// What is kept, about.
  uint64_t bytes() const { return Bytes; }
  /// Keeps nothing; the next calls read their chunks again.
  void clear();

private:
  struct Position {
    llvm::ArrayRef<PageChunkEntry> Chunks; ///< not yet behind us
    PageChunk Chunk;
    bool Decoded = false;
    size_t Applied = 0; ///< deltas that Page has
    uint8_t Page[PageSize];
    uint64_t bytes() const;
  };
  const TraceReader &Trace;
  llvm::DenseMap<FrameNumber, std::unique_ptr<Position>> Positions;
  uint64_t Bytes = 0;
};

} // namespace chronicle

#endif
