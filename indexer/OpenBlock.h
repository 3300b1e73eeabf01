// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The block that the indexer is filling, and what the stream said so far.

#ifndef CHRONICLE_INDEXER_OPENBLOCK_H
#define CHRONICLE_INDEXER_OPENBLOCK_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "trace-format/events/EventNames.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/SequenceCoder.h"
#include <array>
#include <vector>

namespace chronicle::indexer {

/// The parts of a block while chunks are added to it. Blocks follow each other
/// in one OpenBlock, so that its buffers are allocated once.
struct OpenBlock {
  Timestamp First = 0;
  uint64_t Instructions = 0;
  uint64_t Executions = 0;
  uint64_t EarlierExecutions = 0; ///< of the blocks before
  /// Executions of the block up to which the recorder has sent all stores.
  uint64_t SentExecutions = 0;
  pieces::EventsWriter Events;
  pieces::SequenceCoder Sequence;
  ByteWriter Opaque;

  Timestamp now() const { return First + Instructions; }
  bool empty() const { return !Executions && !Events.Count; }
  /// Starts the next block where this one ends.
  void next() {
    First += Instructions;
    EarlierExecutions += Executions;
    Instructions = Executions = SentExecutions = 0;
    Events.clear();
    Opaque.clear();
    Sequence.beginBlock();
  }
};

/// Totals over the whole stream.
struct StreamCounts {
  uint64_t Threads = 0;
  uint64_t UnreportedWrites = 0; ///< found by audits of private memory
  uint64_t OutsideWrites = 0;    ///< found by loads, or in shared memory
  uint64_t OpaqueBytes = 0;
  uint64_t Events = 0;
  std::array<uint64_t, events::EventKindCount> EventsByKind{};
  std::vector<uint64_t> OpaqueByReason; ///< bytes
  bool Ended = false;                   ///< CH_EV_END came
  uint32_t EndReason = 0, EndCode = 0;
  uint32_t ExecThread = 0; ///< is in an execve that has not come back
};

} // namespace chronicle::indexer

#endif
