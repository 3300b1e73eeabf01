// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Opens a trace.db and hands out its decoded pieces. Knows the bytes, not what
/// they mean: replay and searches are in query/, and so are caches of decoded
/// pieces (query/state/RecentPieces.h).

#ifndef CHRONICLE_TRACE_FORMAT_FILE_TRACEREADER_H
#define CHRONICLE_TRACE_FORMAT_FILE_TRACEREADER_H

#include "trace-format/TraceData.h"
#include "trace-format/pieces/CallFormat.h"
#include "trace-format/pieces/ExecutionFormat.h"
#include "trace-format/pieces/PackedFileFormat.h"
#include "trace-format/pieces/ThreadBlocks.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace llvm {
class MemoryBuffer;
}

namespace chronicle::file {

/// An executions piece, or a part of their index, and the bytes it points into.
struct StoredExecutions {
  std::unique_ptr<uint8_t[]> Storage;
  pieces::ExecutionRange Range;
};

/// Reads everything through a memory map. The const functions may be called
/// from several threads at once. Every call of a read function decompresses and
/// decodes its piece; only raw page chunks are kept for a while
/// (FrameReader.h).
class TraceReader {
public:
  static llvm::Expected<std::unique_ptr<TraceReader>>
  open(llvm::StringRef Path);
  /// The same for a file that is in memory already.
  static llvm::Expected<std::unique_ptr<TraceReader>>
  open(std::unique_ptr<llvm::MemoryBuffer> Buffer);
  ~TraceReader();

  llvm::StringRef path() const;
  uint64_t fileSize() const;
  /// Why the trace is not whole, or empty. A truncated trace is readable up to
  /// what blocks() shows.
  llvm::StringRef truncated() const;
  /// The directory was rebuilt by scanning.
  bool rebuilt() const;

  const llvm::json::Object &run() const;
  /// Null if the trace has no end piece.
  const llvm::json::Object *end() const;
  Timestamp instructions() const;
  uint64_t executions() const;

  llvm::ArrayRef<BlockEntry> blocks() const;
  /// In which blocks the thread has a snapshot: those it ran in, that it ended
  /// in, and the last of the run.
  pieces::ThreadBlocks blocksOf(uint32_t Thread) const;
  /// The block that holds instruction T; T <= instructions().
  BlockNumber blockAt(Timestamp T) const;
  llvm::Expected<Block> readBlock(BlockNumber N) const;

  /// Highest superblock id plus one; ids from 1.
  uint32_t superblockCount() const;
  Definition definition(uint32_t Id) const;
  /// Where superblocks begin, by id; [0] is 0.
  llvm::ArrayRef<uint64_t> superblockAddresses() const;
  /// In instructions.
  uint32_t longestSuperblock() const;
  uint32_t exitCount() const;
  /// The superblock whose exit this is.
  uint32_t superblockOfExit(uint32_t Exit) const;
  llvm::StringRef reasonName(uint32_t Reason) const;
  /// The payload of the programs piece (ProgramFormat.h), as it lies in the
  /// file and unchecked; empty if there is none.
  llvm::ArrayRef<uint8_t> programs() const;

  /// All chunks, sorted by frame, then first block.
  llvm::ArrayRef<PageChunkEntry> pageChunks() const;
  llvm::ArrayRef<PageChunkEntry> pageChunksOf(FrameNumber Frame) const;
  llvm::Expected<PageChunk> readPageChunk(const PageChunkEntry &Entry) const;
  /// The frame at the start of block N into Page (4096 bytes): one chunk read.
  llvm::Error readFrame(FrameNumber Frame, BlockNumber N, uint8_t *Page) const;

  /// The stacks of the threads that ran in the block, at its end. Decompresses
  /// the block.
  llvm::Expected<std::vector<pieces::ThreadStacks>>
  readStacks(BlockNumber N) const;
  /// Activations have numbers from 1 to this.
  uint32_t activationCount() const;
  /// In the order of their numbers; each has a few thousand activations.
  llvm::ArrayRef<ActivationPiece> activationPieces() const;
  llvm::Expected<std::vector<pieces::ActivationRecord>>
  readActivations(const ActivationPiece &Piece) const;

  /// Which superblocks ran in which blocks: pieces in the order of blocks.
  llvm::ArrayRef<ExecutionPiece> executionPieces() const;
  llvm::Expected<StoredExecutions>
  readExecutions(const ExecutionPiece &Piece) const;
  /// Which superblocks ran in which of executionPieces(), by their places
  /// there; some may be beyond. In the order of superblocks; empty if nothing
  /// is known, as in a trace that was cut off.
  llvm::ArrayRef<ExecutionIndexPiece> executionIndex() const;
  llvm::Expected<StoredExecutions>
  readExecutionIndex(const ExecutionIndexPiece &Piece) const;

  llvm::ArrayRef<TimelineEvent> timeline() const;

  /// The files that were packed into the trace, in the order of packing. Reads
  /// their tables. The trace may come from a stranger: paths are absolute and
  /// have no "..", and everything else that a name can do is the caller's care.
  llvm::Expected<std::vector<pieces::PackedFile>> packedFiles() const;
  /// Gives the bytes of a packed file to Take, part by part, decompressing one
  /// part at a time. Does not check the file's digest.
  llvm::Error readPacked(
      const pieces::PackedFile &File,
      llvm::function_ref<llvm::Error(llvm::ArrayRef<uint8_t>)> Take) const;
  /// Sizes by piece type, index = type.
  llvm::ArrayRef<PartSize> partSizes() const;
  /// Reads every piece and checks its checksum; the error names the offset.
  llvm::Error checkAllPieces() const;

private:
  TraceReader();
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle::file

#endif
