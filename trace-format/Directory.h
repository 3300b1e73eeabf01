// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The tables at the end of the file that find everything else.
///
///   directory  := section*     1 blocks, 3 pieces, 4 totals, 5 executions
///   blocks     := count:v (offset:z first-timestamp:v kinds:v threads:v
///                          thread:v*)*
///   pieces     := count:v (type:u8 offset:v key:v)*
///   totals     := instructions:v blocks:v executions:v
///   executions := as in ExecutionFormat.h, of executions pieces, not of blocks
///
/// offset and first-timestamp are deltas to the previous entry. The table of
/// page chunks, which is the largest, is a piece of its own (Chunks): it is
/// used as it lies in the file, so that opening a long trace is not decoding
/// it.

#ifndef CHRONICLE_TRACE_FORMAT_DIRECTORY_H
#define CHRONICLE_TRACE_FORMAT_DIRECTORY_H

#include "trace-format/Bytes.h"
#include "trace-format/FileFormat.h"
#include "trace-format/TraceData.h"
#include "llvm/Support/Error.h"

namespace chronicle {

/// A piece that is neither block nor pages.
struct OtherPiece {
  PieceType Type;
  uint64_t Offset;
  uint64_t Key;
};

struct Directory {
  std::vector<BlockEntry> Blocks;
  /// Of a directory that was rebuilt, sorted by frame, then first block.
  std::vector<PageChunkEntry> Chunks;
  std::vector<OtherPiece> Pieces; ///< in the order of the file
  /// Which superblock ran in which executions piece, encoded; empty: not known.
  std::vector<uint8_t> ExecutionIndex;
  Timestamp Instructions = 0;
  uint64_t Executions = 0;
};

/// Encodes a directory entry by entry, so that the indexer need not hold it
/// decoded. The adds of each kind come in the order of the tables.
class DirectoryWriter {
public:
  void addBlock(const BlockEntry &Entry);
  void addPiece(const OtherPiece &Entry);
  void setExecutionIndex(llvm::ArrayRef<uint8_t> Bytes) {
    ExecutionIndex.bytes(Bytes);
  }
  void encode(ByteWriter &Out, Timestamp Instructions,
              uint64_t Executions) const;

private:
  ByteWriter Blocks, Pieces, ExecutionIndex;
  uint64_t BlockCount = 0, PieceCount = 0;
  uint64_t BlockOffset = 0, BlockFirst = 0, PieceOffset = 0;
};

llvm::Expected<Directory> decodeDirectory(llvm::ArrayRef<uint8_t> Raw);

} // namespace chronicle

#endif
