// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Decides which pieces a trace is made of, and when: blocks, definitions,
/// timeline, checkpoints, and at last end and directory.

#ifndef CHRONICLE_INDEXER_DATABASEBUILDER_H
#define CHRONICLE_INDEXER_DATABASEBUILDER_H

#include "indexer/PageHistory.h"
#include "trace-format/file/Directory.h"
#include "trace-format/file/TraceWriter.h"
#include "trace-format/pieces/CallFormat.h"
#include "trace-format/pieces/ExecutionFormat.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "trace-format/pieces/ThreadBlocks.h"
#include "llvm/Support/JSON.h"
#include <chrono>

namespace chronicle::indexer {

/// Hands everything to the TraceWriter. Memory beyond the writer's queue: about
/// 40 bytes per block, and what PageHistory needs.
class DatabaseBuilder {
public:
  DatabaseBuilder(MemoryImage &Image, std::unique_ptr<file::TraceWriter> Writer,
                  pieces::ProgramMaker Programs, unsigned CheckpointBlocks,
                  double CheckpointSeconds);

  void addRun(const llvm::json::Object &Run);
  void addDefinition(uint32_t Id, llvm::ArrayRef<uint8_t> Definition);
  void addReasonName(uint32_t Reason, llvm::ArrayRef<uint8_t> Name);
  void addTimeline(Timestamp Time, uint32_t Kind,
                   llvm::ArrayRef<uint8_t> Payload);

  /// Gives an activation its number. Call before adding the first block that
  /// refers to it.
  uint32_t addActivation(uint32_t Parent, const pieces::CallRecord &Call) {
    return Activations.add(Parent, Call);
  }

  /// Writes the block and what it changed in pages. \p Head is complete but
  /// for the dirty counts; \p Owners has the superblock of each exit.
  void addBlock(pieces::BlockHead Head, const pieces::EventsWriter &Events,
                pieces::SequenceCoder &Sequence, llvm::ArrayRef<uint8_t> Opaque,
                llvm::ArrayRef<uint8_t> Stacks,
                llvm::ArrayRef<uint32_t> Owners);
  BlockNumber nextBlock() const { return Blocks.size(); }
  /// Writes a checkpoint if one is due by the clock. Called while the recorder
  /// is silent.
  void idle();

  bool failed() const { return Writer->failed(); }
  uint64_t bytesWritten() const { return Writer->bytesWritten(); }

  /// Sets, by exit, how many instructions it passes. The programs piece needs
  /// it; call before finish().
  void setPassed(std::vector<uint8_t> P) { Passed = std::move(P); }

  struct Totals {
    uint64_t Blocks = 0;
    Timestamp Instructions = 0;
    uint64_t Executions = 0;
  };
  Totals totals() const { return Sum; }

  /// Completes the file with the end piece that \p End makes. If something
  /// could not be written, the file is taken back to its last checkpoint, and
  /// \p End is called (again) with what is left and with the reason.
  llvm::Expected<Totals>
  finish(llvm::function_ref<llvm::json::Object(const Totals &, std::error_code,
                                               llvm::StringRef)>
             End);

private:
  void checkpoint();
  void flushDefinitions();
  void flushTimeline();
  void flushActivations();
  void flushExecutions();
  void append(PieceType Type, uint64_t Key, ByteWriter &Bytes);
  void appendWithCopy(PieceType Type, uint64_t Key, ByteWriter &Bytes);
  void appendJson(PieceType Type, uint64_t Key, llvm::json::Object Value);
  llvm::Expected<pieces::ProgramsWriter> makePrograms() const;
  llvm::Error addPrograms();
  llvm::Error complete(llvm::json::Object End, const Totals &T,
                       uint64_t Pieces);
  void appendTables(const Totals &T, uint64_t Pieces);

  struct OtherRecord {
    PieceType Type;
    uint64_t Number, Key;
  };
  std::unique_ptr<file::TraceWriter> Writer;
  MemoryImage &Image;
  PageHistory Pages;
  pieces::ProgramMaker Maker;
  unsigned CheckpointBlocks;
  std::chrono::duration<double> CheckpointTime;
  std::chrono::steady_clock::time_point LastCheckpoint;

  std::vector<BlockEntry> Blocks; ///< Offset: the piece's number
  pieces::ThreadBlocksWriter ThreadsIn;
  std::vector<OtherRecord> Others;
  std::vector<Totals> Checkpoints;
  uint64_t CheckpointBytes = 0; ///< raw, up to the last checkpoint
  Totals Sum;
  ByteWriter Definitions, Timeline;
  pieces::ActivationsWriter Activations;
  pieces::ExecutionsWriter Executed;
  std::vector<uint8_t> Passed;         ///< by exit
  pieces::ExecutionsWriter ExecutedIn; ///< pieces of the above, not blocks
  uint64_t ExecutionPieces = 0;
  /// Of the whole trace, once it is complete.
  std::vector<pieces::ExecutionsWriter::Part> ExecutionIndex;
  uint64_t FirstDefinition = 0, FirstTimelineBlock = 0;
  /// Of each definitions piece, and of the next one.
  std::vector<file::DefinitionStart> Starts{{1, 0}};
  file::DefinitionStart Defined{1, 0}; ///< what comes next
  /// Of the run and the timeline; Offset is the piece's number.
  std::vector<file::PieceCopy> Copies;
  uint64_t CopiedBytes = 0;
};

} // namespace chronicle::indexer

#endif
