// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a trace holds, decoded: blocks, events, page chunks, timeline.

#ifndef CHRONICLE_TRACE_FORMAT_TRACEDATA_H
#define CHRONICLE_TRACE_FORMAT_TRACEDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace chronicle {

using Timestamp = uint64_t;
using BlockNumber = uint64_t;
using FrameNumber = uint64_t;

/// Where a block is and what it holds. The blocks piece is a table of these as
/// they are in memory.
struct BlockEntry {
  uint64_t Offset; ///< of the block piece
  Timestamp First;
  uint64_t Kinds; ///< bit k: has an event of kind k
};
static_assert(sizeof(BlockEntry) == 24);

/// One event of a block. Payload points into the Block that owns it.
struct Event {
  uint64_t Execution; ///< executions of the block before the event
  uint32_t Kind;      ///< ch_event_kind
  llvm::ArrayRef<uint8_t> Payload;

  /// The event as one of the types of events/Events.h, or nothing.
  template <typename T> std::optional<T> as() const {
    return T::decode(Kind, Payload);
  }
};

/// A decompressed and decoded block.
struct Block {
  BlockNumber Number = 0;
  Timestamp First = 0;
  uint64_t Instructions = 0;
  uint64_t DirtyPages = 0;
  uint64_t DirtyGranules = 0;
  std::vector<Event> Events;
  std::vector<uint32_t> Symbols; ///< the sequence: exit numbers
  llvm::ArrayRef<uint8_t> Opaque;
  std::unique_ptr<uint8_t[]> Storage; ///< what Events and Opaque point into
};

/// A stretch of a frame's history. The chunks piece is a table of these as they
/// are in memory.
struct PageChunkEntry {
  FrameNumber Frame;
  BlockNumber First, Last; ///< first and last block with a delta
  uint64_t Offset;         ///< of the pages piece
  uint64_t Granules[8];    ///< written by any delta
};
static_assert(sizeof(PageChunkEntry) == 96);

struct PageDelta {
  BlockNumber Block;
  uint8_t Kind;         ///< 0 granules, 1 zero, 2 image
  uint64_t Granules[8]; ///< kind 0: written
  llvm::ArrayRef<uint8_t>
      Masks; ///< kind 0: per granule, one bit per byte that changed
  llvm::ArrayRef<uint8_t> Bytes; ///< those bytes, or the image
};

/// A decoded page chunk. Image is empty for a zero base.
struct PageChunk {
  FrameNumber Frame;
  BlockNumber First;
  llvm::ArrayRef<uint8_t> Image;
  std::vector<PageDelta> Deltas;
  std::shared_ptr<const uint8_t[]> Storage;
};

struct TimelineEvent {
  BlockNumber Block;
  Timestamp Time;
  uint32_t Kind;
  llvm::ArrayRef<uint8_t> Payload;

  /// The event as one of the types of events/Events.h, or nothing.
  template <typename T> std::optional<T> as() const {
    return T::decode(Kind, Payload);
  }
};

/// A superblock as its definition says, and its first exit number.
struct Definition {
  llvm::ArrayRef<uint8_t> Bytes; ///< empty: no such superblock
  uint32_t FirstExit = 0;
};

/// Where to read which superblocks ran in a range of blocks.
struct ExecutionPiece {
  uint64_t Offset;
  BlockNumber First, Last; ///< both included
};

/// Where to read in which executions pieces superblocks ran.
struct ExecutionIndexPiece {
  uint64_t Offset;
  uint64_t First; ///< superblock
};

/// Where to read activations.
struct ActivationPiece {
  uint64_t Offset;
  uint64_t First; ///< number of its first activation
};

/// How many pieces of one type a file has, and their size, for `chronicle
/// info`.
struct PartSize {
  uint64_t Pieces = 0, Stored = 0, Raw = 0;
};

} // namespace chronicle

#endif
