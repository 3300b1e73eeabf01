// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Decodes chunks of the stream: executions into the block's sequence, stores
/// into the memory image, event records through an EventDecoder.

#ifndef CHRONICLE_INDEXER_STREAMDECODER_H
#define CHRONICLE_INDEXER_STREAMDECODER_H

#include "indexer/CallWriter.h"
#include "indexer/EventDecoder.h"
#include "indexer/RingReader.h"
#include <array>

namespace chronicle::indexer {

/// The indexer's hot loop; the goal is 2 ns per instruction, on one thread.
class StreamDecoder {
public:
  StreamDecoder(MemoryImage &Image, DatabaseBuilder &Database,
                TranslationSink Translations = {}, family::Kinship Kin = {});

  /// Applies a chunk, and ends the block if the chunk is the block's last. An
  /// error means that the stream is invalid from some point of this block on;
  /// the blocks before it are good. An unfinished chunk ends at its first
  /// invalid record and gives no error.
  llvm::Error decode(const RingChunk &Chunk);
  /// Ends the last block if the recorder died before it did.
  void endBlock();

  const StreamCounts &counts() const { return Counts; }
  const EventDecoder &events() const { return Events; }
  uint32_t superblocks() const { return Superblocks.count(); }
  std::vector<uint8_t> passedByExit() const { return Superblocks.passed(); }
  Timestamp instructions() const { return Block.now(); }
  uint64_t executions() const {
    return Block.EarlierExecutions + Block.Executions;
  }
  /// Snapshots whose stack pointer differs from the one that was followed.
  uint64_t stackSurprises() const { return Calls.surprises(); }

private:
  struct Cursor;
  const uint32_t *decodeRun(const uint32_t *Word, const uint32_t *End,
                            Cursor &At);
  size_t decodeBatch(const uint32_t *Words, size_t Count, Cursor &At);
  bool decodeOther(model::CallTracker &Running, uint32_t Exit, Cursor &At);
  llvm::Error decodeWords(const RingChunk &Chunk);
  llvm::Error decodeLoaded(const uint32_t *&Word, const uint32_t *End,
                           uint64_t Execution, uint32_t Superblock, Cursor &At);
  llvm::Error decodeFault(uint32_t Id, const EventRecord &Record, Cursor &At);
  void followCalls(model::CallTracker &Running, uint32_t Exit,
                   const uint8_t *Slots, Timestamp T);
  void followSets(model::CallTracker &Running, const bytecode::SlotFact *Facts,
                  unsigned Count, unsigned Sets, const uint8_t *Slots,
                  Timestamp T);
  void applySlots(const bytecode::SlotFact *Facts, unsigned Count,
                  const uint8_t *Slots);

  MemoryImage &Image;
  DatabaseBuilder &Database;
  SuperblockTable Superblocks;
  model::CallFollower Calls; ///< its superblocks are run words
  OpenBlock Block;
  StreamCounts Counts;
  EventDecoder Events;
  CallWriter CallStacks;
  uint32_t LastExit = 0; ///< by which the chunk's last execution left
  /// What the batch has done before each of its special steps.
  std::array<Step, Step::BatchSize> Listed;
  /// Follows what runs before any thread does.
  model::CallTracker BeforeThreads{0, 0};
};

} // namespace chronicle::indexer

#endif
