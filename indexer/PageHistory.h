// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Turns what each block wrote into page chunks, and keeps a table of where
/// they are.

#ifndef CHRONICLE_INDEXER_PAGEHISTORY_H
#define CHRONICLE_INDEXER_PAGEHISTORY_H

#include "indexer/MemoryImage.h"
#include "trace-format/file/TraceWriter.h"
#include "trace-format/pieces/BlockFormat.h"

namespace chronicle::indexer {

/// Memory: open chunks take at most OpenBytesFloor or half of the image,
/// whichever is more, before wantsClose() asks for an end; the table of closed
/// ones takes about 50 bytes per chunk.
class PageHistory {
public:
  /// A chunk is closed when its bytes exceed this: what a reader must
  /// decompress for one page.
  static constexpr size_t ChunkBytes = 12 << 10;
  /// A chunk that was closed early is continued by the next one, without an
  /// image of the page, as long as the chain stays below this many bytes and
  /// pieces. Beyond that an image is cheaper to read.
  static constexpr size_t ChainBytes = 8 << 10;
  static constexpr uint32_t ChainLimit = 12;
  static constexpr uint64_t OpenBytesFloor = 32u << 20;

  PageHistory(MemoryImage &Image, file::TraceWriter &Writer)
      : Image(Image), Writer(Writer) {}

  /// Appends a delta for each page that the block wrote, and counts them.
  void endBlock(BlockNumber N, pieces::BlockHead &Head);
  /// Whether open chunks use as much memory as they may.
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
  file::TraceWriter &Writer;
  uint64_t OpenBytes = 0;
  /// Pages whose chunk was opened since the last closeAll(). Some are closed
  /// again, some are in the list twice.
  std::vector<Page *> Opened;
  std::vector<Record> Records;
  ByteWriter Summaries;
};

} // namespace chronicle::indexer

#endif
