// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One block of history as bytes.
///
///   block   := section*
///   section := id:u8 size:v bytes      1 head, 2 events, 3 sequence, 4 opaque,
///                                      5 stacks (CallFormat.h)
///   head    := first-timestamp:v instructions:v executions:v events:v
///              dirty-pages:v dirty-granules:v opaque-bytes:v
///   event   := executions-since-the-previous-event:v kind:v size:v payload

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_BLOCKFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_BLOCKFORMAT_H

#include "trace-format/Bytes.h"
#include "trace-format/TraceData.h"
#include "trace-format/pieces/SequenceCoder.h"
#include "llvm/Support/Error.h"

namespace chronicle::pieces {

struct BlockHead {
  Timestamp First = 0;
  uint64_t Instructions = 0;
  uint64_t Executions = 0;
  uint64_t Events = 0;
  uint64_t DirtyPages = 0;
  uint64_t DirtyGranules = 0;
  uint64_t OpaqueBytes = 0;
};

/// Writes the events section, event by event, and collects what the table of
/// blocks says about it.
class EventsWriter {
public:
  void clear() {
    Bytes.clear();
    Count = LastExecution = Kinds = 0;
    Threads.clear();
  }
  /// The payload is in two parts, so that callers need not copy them together.
  void add(uint64_t Execution, uint32_t Kind, llvm::ArrayRef<uint8_t> Payload,
           llvm::ArrayRef<uint8_t> More = {});

  ByteWriter Bytes;
  uint64_t Count = 0;
  uint64_t Kinds = 0;                     ///< bit k: an event of kind k
  llvm::SmallVector<uint32_t, 2> Threads; ///< with a snapshot

private:
  uint64_t LastExecution = 0;
};

/// Appends the block. Empty sections are left out.
void encodeBlock(ByteWriter &Out, const BlockHead &Head,
                 llvm::ArrayRef<uint8_t> Events,
                 llvm::ArrayRef<uint8_t> Sequence,
                 llvm::ArrayRef<uint8_t> Opaque,
                 llvm::ArrayRef<uint8_t> Stacks = {});

/// The sections of a block, still encoded; they point into the raw bytes.
struct BlockSections {
  BlockHead Head;
  llvm::ArrayRef<uint8_t> Events, Sequence, Opaque, Stacks;
};
llvm::Expected<BlockSections> splitBlock(llvm::ArrayRef<uint8_t> Raw);
/// The events point into Bytes.
llvm::Expected<std::vector<Event>> decodeEvents(llvm::ArrayRef<uint8_t> Bytes,
                                                const BlockHead &Head);
/// The thread of a CH_EV_SNAPSHOT, or 0.
uint32_t snapshotThread(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload);
/// The threads that have a snapshot among the events, in the order of their
/// first.
llvm::SmallVector<uint32_t, 2> snapshotThreads(llvm::ArrayRef<Event> Events);

} // namespace chronicle::pieces

#endif
