// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A pass over a whole trace: every block is replayed once, and an observer
/// hears of what happens in it. docs/passes.md explains how to write one.

#ifndef CHRONICLE_QUERY_PASSES_PASS_H
#define CHRONICLE_QUERY_PASSES_PASS_H

#include "query/answers/Cancellation.h"
#include "trace-format/FileFormat.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <vector>

namespace chronicle::machine {
class ReplayMemory;
}

namespace chronicle::passes {

/// What a pass wants to hear of. What nothing asks for costs nothing.
struct PassNeeds {
  /// Which granules each block reads, at its end. Costs a few processor
  /// instructions per load.
  bool ReadGranules = false;
  /// Every load and every store, with its instruction. All blocks are
  /// interpreted, which takes several times as long.
  bool Accesses = false;
  bool Events = false;
  /// Calls of the functions that begin at these addresses.
  llvm::DenseSet<uint64_t> Entries;
};

/// A load, or a store before it happens.
struct Access {
  Timestamp Time;
  uint32_t Thread;
  uint64_t Pc;
  uint64_t Address;
  llvm::ArrayRef<uint8_t> Bytes; ///< loaded, or to be stored
};

/// The moment before the first instruction of a function, or of code that a
/// function returns to.
struct Entry {
  Timestamp Time;
  uint32_t Thread;
  uint64_t Address;
  const uint8_t *State; ///< the thread's guest state (GuestState.h)
  machine::ReplayMemory &Memory;
};

/// The granules that a block read of one frame.
struct FrameReads {
  FrameNumber Frame;
  uint64_t Granules[GranuleWords];
};

/// Hears of one block, in the order of time. Belongs to one thread at a time.
class BlockObserver {
public:
  virtual ~BlockObserver();
  virtual void load(const Access &) {}
  virtual void store(const Access &) {}
  /// Before the event takes effect, with the time from which it is seen.
  virtual void event(const Event &, Timestamp) {}
  /// An entry of PassNeeds::Entries, or of an address that it returned: the
  /// addresses that it returns are watched too, until the end of the block.
  /// Returning code that a function returns to shows the end of the call.
  virtual std::vector<uint64_t> entry(const Entry &) { return {}; }
  /// Once, at the end of the block, with the frames that were read, in order.
  virtual void reads(std::vector<FrameReads> && /*Frames*/) {}
};

/// Blocks are independent, so their observers are made and used on several
/// threads at once. Then they are delivered one by one, in the order of blocks.
class Pass {
public:
  virtual ~Pass();
  virtual PassNeeds needs() const = 0;
  /// Called from any thread, at the start of any block. Null: the pass does
  /// not need the block.
  virtual std::unique_ptr<BlockObserver> start(const Block &B) = 0;
  /// Called for every block in order, by one thread at a time.
  virtual llvm::Error deliver(BlockNumber N,
                              std::unique_ptr<BlockObserver> Seen) = 0;
};

struct PassOptions {
  unsigned Threads = 0;              ///< 0: one per processor
  BlockNumber First = 0;             ///< blocks before it are left out
  BlockNumber End = ~BlockNumber(0); ///< so are this one and those after it
  /// How many bytes of pages all threads together may keep.
  uint64_t MemoryBytes = uint64_t(1) << 30;
  /// Called after each block, from any thread, with how many instructions are
  /// done.
  std::function<void(uint64_t Instructions)> Progress;
  const answers::Cancellation *Cancel = nullptr;
};

/// Replays the blocks and shows them to the pass. Fails if a block cannot be
/// replayed as it was recorded, or if the pass fails. When it is cancelled,
/// some number of blocks from the first one on were delivered; that is no
/// error.
///
/// Costs about what verifying costs. Keeps the observers of some hundred blocks
/// per thread.
llvm::Error runPass(const file::TraceReader &Trace, Pass &P,
                    const PassOptions &Options);

} // namespace chronicle::passes

#endif
