// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads page chunks, and frames as they were at the start of a block.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_FRAMEREADER_H
#define CHRONICLE_TRACE_FORMAT_FILE_FRAMEREADER_H

#include "trace-format/RecentlyUsed.h"
#include "trace-format/TraceData.h"
#include "trace-format/file/PieceFile.h"

namespace chronicle::file {

/// Keeps the decompressed chunks that were read recently, because neighbours in
/// time share one. This cache is with the reader and not in query/, because
/// replay, state and search read frames of one trace through the same chunks,
/// and have nothing but the reader in common.
class FrameReader {
public:
  /// Chunks is sorted by frame, then first block.
  FrameReader(const PieceFile &File, llvm::ArrayRef<PageChunkEntry> Chunks)
      : File(File), Chunks(Chunks) {}

  llvm::ArrayRef<PageChunkEntry> chunks() const { return Chunks; }
  llvm::ArrayRef<PageChunkEntry> chunksOf(FrameNumber Frame) const;
  llvm::Expected<PageChunk> readChunk(const PageChunkEntry &Entry);
  /// Reads the frame at the start of block N into Page (4096 bytes). Costs one
  /// chunk, or as many as it takes to find one with a base.
  llvm::Error readFrame(FrameNumber Frame, BlockNumber N, uint8_t *Page);

private:
  struct RawChunk {
    std::shared_ptr<const uint8_t[]> Storage;
    llvm::ArrayRef<uint8_t> Bytes;
  };

  const PieceFile &File;
  llvm::ArrayRef<PageChunkEntry> Chunks;
  RecentlyUsed<RawChunk, 9> Recent; ///< by offset
};

} // namespace chronicle::file

#endif
