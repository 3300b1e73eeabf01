// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Opens a trace.db and hands out its decoded pieces. Knows the bytes, not what
/// they mean: replay and searches live in query/.

#ifndef CHRONICLE_TRACE_FORMAT_TRACEREADER_H
#define CHRONICLE_TRACE_FORMAT_TRACEREADER_H

#include "trace-format/CallFormat.h"
#include "trace-format/ExecutionFormat.h"
#include "trace-format/ThreadBlocks.h"
#include "trace-format/TraceData.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace llvm {
class MemoryBuffer;
}

namespace chronicle {

/// Everything is read through a memory map; the const functions may be called
/// from several threads at once.
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
  ThreadBlocks blocksOf(uint32_t Thread) const;
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
  /// the block; recent answers are kept.
  llvm::Expected<std::shared_ptr<const std::vector<ThreadStacks>>>
  readStacks(BlockNumber N) const;
  /// Activations have numbers from 1 to this.
  uint32_t activationCount() const;
  /// Reads the piece it is in, a few thousand activations; recent ones are
  /// kept.
  llvm::Expected<ActivationRecord> activation(uint32_t Number) const;
  /// Ranges of blocks, in order, that executions() knows about.
  llvm::ArrayRef<ExecutionPiece> executionPieces() const;
  /// Calls Visit with which of these superblocks, which are sorted, ran in
  /// which of executionPieces(), by their places there; some may be beyond.
  /// False: not known, as in a trace that was cut off. Reads a part of the
  /// index for each superblock, unless it is among the recent ones.
  bool visitExecutionIndex(
      llvm::ArrayRef<uint32_t> Superblocks,
      llvm::function_ref<void(const ExecutionRun &)> Visit) const;
  /// Which superblocks ran in which blocks. Recent ones are kept.
  llvm::Expected<std::shared_ptr<const ExecutionRange>>
  readExecutions(const ExecutionPiece &Piece) const;

  llvm::ArrayRef<TimelineEvent> timeline() const;
  /// Sizes by piece type, index = type.
  llvm::ArrayRef<PartSize> partSizes() const;
  /// Reads every piece and checks its checksum; the error names the offset.
  llvm::Error checkAllPieces() const;

private:
  TraceReader();
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle

#endif
