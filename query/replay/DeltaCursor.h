// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What each block did to a frame, for readers that go forward through blocks.

#ifndef CHRONICLE_QUERY_REPLAY_DELTACURSOR_H
#define CHRONICLE_QUERY_REPLAY_DELTACURSOR_H

#include "trace-format/FileFormat.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace chronicle::replay {

/// The deltas of frames, for a caller that asks in the order of blocks. Keeps
/// one decoded chunk of each frame that it was asked about, so that each chunk
/// is decoded once.
class DeltaCursor {
public:
  explicit DeltaCursor(const file::TraceReader &Trace) : Trace(Trace) {}
  /// What block N did to a frame; valid until the next call.
  struct Change {
    llvm::ArrayRef<PageDelta> Deltas;
    const uint8_t *After = nullptr; ///< the page then; null if no deltas
  };
  llvm::Expected<Change> change(FrameNumber Frame, BlockNumber N);
  /// About how many bytes are kept.
  uint64_t bytes() const { return Bytes; }
  /// Drops all chunks; the next calls read theirs again.
  void clear();

private:
  struct Position {
    llvm::ArrayRef<PageChunkEntry> Chunks; ///< from the current one on
    PageChunk Chunk;
    bool Decoded = false;
    size_t Applied = 0; ///< how many deltas Page has
    uint8_t Page[PageSize];
    uint64_t bytes() const;
  };
  const file::TraceReader &Trace;
  llvm::DenseMap<FrameNumber, std::unique_ptr<Position>> Positions;
  uint64_t Bytes = 0;
};

} // namespace chronicle::replay

#endif
