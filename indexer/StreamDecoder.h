// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Takes chunks of the stream apart and applies them: stores to the memory
/// image, superblocks to the sequence, events to the block.

#ifndef CHRONICLE_INDEXER_STREAMDECODER_H
#define CHRONICLE_INDEXER_STREAMDECODER_H

#include "indexer/CallWriter.h"
#include "indexer/DatabaseBuilder.h"
#include "indexer/MemoryImage.h"
#include "indexer/ModuleList.h"
#include "indexer/Ring.h"
#include "indexer/SuperblockTable.h"
#include "trace-format/BlockFormat.h"
#include "trace-format/EventNames.h"
#include "trace-format/SequenceCoder.h"
#include <array>

namespace chronicle {

/// What the stream said so far.
struct StreamCounts {
  uint64_t Threads = 0;
  uint64_t UnreportedWrites = 0; ///< found by audits of private memory
  uint64_t OutsideWrites = 0;    ///< found by loads, or in shared memory
  uint64_t OpaqueBytes = 0;
  uint64_t Events = 0;
  std::array<uint64_t, EventKindCount> EventsByKind{};
  std::vector<uint64_t> OpaqueByReason; ///< bytes
  bool Ended = false;                   ///< CH_EV_END came
  uint32_t EndReason = 0, EndCode = 0;
  uint32_t ExecThread = 0; ///< is in an execve that has not come back
};

/// The indexer's hot loop; the goal is 2 ns an instruction, on one thread.
class StreamDecoder {
public:
  StreamDecoder(MemoryImage &Image, DatabaseBuilder &Database);

  /// Applies a chunk and ends the block if it is the block's last. An error
  /// means that the stream makes no sense from some point of this block on;
  /// blocks before it are good. In an unfinished chunk that only ends it.
  llvm::Error decode(const RingChunk &Chunk);
  /// Ends a block that the recorder did not: it is gone.
  void endBlock();

  const StreamCounts &counts() const { return Counts; }
  const ModuleList &modules() const { return Modules; }
  uint32_t superblocks() const { return Superblocks.count(); }
  std::vector<uint8_t> passedByExit() const { return Superblocks.passed(); }
  Timestamp instructions() const { return First + Instructions; }
  uint64_t executions() const { return EarlierExecutions + Executions; }
  llvm::StringRef reasonName(uint32_t Reason) const;
  /// CH_REQUEST_* bits that the recorder should hear of.
  uint32_t requests() const { return Requests; }
  /// Snapshots that show another stack pointer than was followed.
  uint64_t stackSurprises() const { return Calls.surprises(); }

private:
  struct Cursor;
  const uint32_t *decodeRun(const uint32_t *Word, const uint32_t *End,
                            Cursor &At);
  size_t decodeBatch(const uint32_t *Words, size_t Count, Cursor &At);
  bool decodeOther(CallTracker &Running, uint32_t Exit, Cursor &At);
  llvm::Error decodeWords(const RingChunk &Chunk);
  llvm::Error decodeEvent(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload);
  llvm::Error decodeMemory(llvm::ArrayRef<uint8_t> Payload);
  llvm::Error decodeStored(llvm::ArrayRef<uint8_t> Payload);
  void decodeMap(llvm::ArrayRef<uint8_t> Payload);
  llvm::Error decodeAudit(llvm::ArrayRef<uint8_t> Payload);
  void addEvent(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload,
                llvm::ArrayRef<uint8_t> More = {});
  void outsideWrite(uint64_t Address, const uint8_t *Bytes, uint32_t Size,
                    uint32_t FoundBy, uint32_t Instruction);
  llvm::Error decodeFault(uint32_t Id, llvm::ArrayRef<uint8_t> Payload,
                          Cursor &At);
  void followCalls(CallTracker &Running, uint32_t Exit, const uint8_t *Slots,
                   Timestamp T);
  void followSets(CallTracker &Running, const SlotFact *Facts, unsigned Count,
                  unsigned Sets, const uint8_t *Slots, Timestamp T);
  void applySlots(const SlotFact *Facts, unsigned Count, const uint8_t *Slots);
  void beginBlock();

  MemoryImage &Image;
  DatabaseBuilder &Database;
  SuperblockTable Superblocks;
  ModuleList Modules;
  CallFollower Calls; ///< of run words in place of superblocks
  /// What the batch has done before each of its special steps.
  std::array<Step, Step::BatchSize> Listed;
  CallTracker Nobody{0, 0}; ///< for what runs before any thread does
  CallWriter CallStacks;
  StreamCounts Counts;
  std::vector<std::string> ReasonNames;
  uint32_t Requests = 0;

  // The block that is being made.
  Timestamp First = 0;
  uint64_t Instructions = 0, Executions = 0, EarlierExecutions = 0;
  EventsWriter Events;
  SequenceCoder Sequence;
  ByteWriter Opaque;
  /// Executions of the block up to which all stores were told.
  uint64_t ToldExecutions = 0;
};

} // namespace chronicle

#endif
