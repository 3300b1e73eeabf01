// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Decides which pieces a trace is made of, and when: blocks, definitions,
/// timeline, checkpoints, and at last end and directory.

#ifndef CHRONICLE_INDEXER_DATABASEBUILDER_H
#define CHRONICLE_INDEXER_DATABASEBUILDER_H

#include "indexer/PageHistory.h"
#include "trace-format/CallFormat.h"
#include "trace-format/ExecutionFormat.h"
#include "trace-format/ProgramFormat.h"
#include "trace-format/ThreadBlocks.h"
#include "trace-format/TraceWriter.h"
#include "llvm/Support/JSON.h"
#include <chrono>

namespace chronicle {

/// Everything is handed to the TraceWriter; memory beyond its queue is a table
/// of about 40 bytes a block and what PageHistory says.
class DatabaseBuilder {
public:
  DatabaseBuilder(MemoryImage &Image, std::unique_ptr<TraceWriter> Writer,
                  ProgramMaker Programs, unsigned CheckpointBlocks,
                  double CheckpointSeconds);

  void addRun(const llvm::json::Object &Run);
  void addDefinition(uint32_t Id, llvm::ArrayRef<uint8_t> Definition);
  void addReasonName(uint32_t Reason, llvm::ArrayRef<uint8_t> Name);
  void addTimeline(Timestamp Time, uint32_t Kind,
                   llvm::ArrayRef<uint8_t> Payload);

  /// Gives an activation its number. Before the block that needs it.
  uint32_t addActivation(uint32_t Parent, const CallRecord &Call) {
    return Activations.add(Parent, Call);
  }

  /// Ends the block: its pages and the block itself. \p Head is complete but
  /// for the dirty counts; \p Owners has the superblock of each exit.
  void addBlock(BlockHead Head, const EventsWriter &Events,
                SequenceCoder &Sequence, llvm::ArrayRef<uint8_t> Opaque,
                llvm::ArrayRef<uint8_t> Stacks,
                llvm::ArrayRef<uint32_t> Owners);
  BlockNumber nextBlock() const { return Blocks.size(); }
  /// Writes a checkpoint if one is due by the clock. For when nothing comes.
  void idle();

  bool failed() const { return Writer->failed(); }
  uint64_t bytesWritten() const { return Writer->bytesWritten(); }

  /// By exit: instructions that it passes. For the programs piece, before
  /// finish().
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
  void appendJson(PieceType Type, uint64_t Key, llvm::json::Object Value);
  llvm::Expected<ProgramsWriter> makePrograms() const;
  llvm::Error addPrograms();
  llvm::Error complete(llvm::json::Object End, const Totals &T,
                       uint64_t Pieces);
  void appendTables(const Totals &T, uint64_t Pieces);

  struct OtherRecord {
    PieceType Type;
    uint64_t Number, Key;
  };
  std::unique_ptr<TraceWriter> Writer;
  MemoryImage &Image;
  PageHistory Pages;
  ProgramMaker Maker;
  unsigned CheckpointBlocks;
  std::chrono::duration<double> CheckpointTime;
  std::chrono::steady_clock::time_point LastCheckpoint;

  std::vector<BlockEntry> Blocks; ///< Offset: the piece's number
  ThreadBlocksWriter ThreadsIn;
  std::vector<OtherRecord> Others;
  std::vector<Totals> Checkpoints;
  uint64_t CheckpointBytes = 0; ///< raw, up to the last checkpoint
  Totals Sum;
  ByteWriter Definitions, Timeline;
  ActivationsWriter Activations;
  ExecutionsWriter Executed;
  std::vector<uint8_t> Passed; ///< by exit
  ExecutionsWriter ExecutedIn; ///< pieces of the above, not blocks
  uint64_t ExecutionPieces = 0;
  /// Of the whole trace, once it is complete.
  std::vector<ExecutionsWriter::Part> ExecutionIndex;
  uint64_t FirstDefinition = 0, FirstTimelineBlock = 0;
};

} // namespace chronicle

#endif
