// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Turns what each block wrote into page chunks, and knows where they went.

#ifndef CHRONICLE_INDEXER_PAGEHISTORY_H
#define CHRONICLE_INDEXER_PAGEHISTORY_H

#include "indexer/MemoryImage.h"
#include "trace-format/BlockFormat.h"
#include "trace-format/TraceWriter.h"

namespace chronicle {

/// Memory: open chunks take at most OpenBytesFloor or half of the image,
/// whichever is more, before wantsClose() asks for an end; the table of closed
/// ones about 50 bytes a chunk.
class PageHistory {
public:
  /// A chunk is closed when its bytes exceed this: what a reader must
  /// decompress for one page.
  static constexpr size_t ChunkBytes = 12 << 10;
  /// A chunk that was closed early goes on in the next as long as it, and those
  /// it goes on from, have few deltas: so many bytes, in so many pieces. An
  /// image of the page is soon cheaper to read.
  static constexpr size_t ChainBytes = 2 << 10;
  static constexpr uint32_t ChainLimit = 6;
  static constexpr uint64_t OpenBytesFloor = 32u << 20;

  PageHistory(MemoryImage &Image, TraceWriter &Writer)
      : Image(Image), Writer(Writer) {}

  /// Appends a delta for each page that the block wrote, and counts them.
  void endBlock(BlockNumber N, BlockHead &Head);
  /// Open chunks use as much memory as they may.
  bool wantsClose() const;
  /// Closes every chunk: all history so far is handed to the writer.
  void closeAll();

  /// The chunks piece, of chunks in pieces with a number below \p Pieces. After
  /// the writer's flush().
  llvm::SmallVector<uint8_t, 0> table(uint64_t Pieces);
  uint64_t chunkCount() const { return Records.size(); }

private:
  struct Record {
    FrameNumber Frame;
    uint32_t First, Last;
    uint32_t Piece;
    uint64_t Summary; ///< offset of its granules in Summaries
  };
  void close(Page &P);

  MemoryImage &Image;
  TraceWriter &Writer;
  uint64_t OpenBytes = 0;
  std::vector<Record> Records;
  ByteWriter Summaries;
};

} // namespace chronicle

#endif
