// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Drives the CallTrackers of all threads from a block's events. What happens
/// between superblocks is the same in the stream and in the file, so indexer
/// and query engine share it.

#ifndef CHRONICLE_TRACE_FORMAT_CALLFOLLOWER_H
#define CHRONICLE_TRACE_FORMAT_CALLFOLLOWER_H

#include "trace-format/CallTracker.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace chronicle {

/// Events cost next to nothing; the executions are fed to running() directly.
class CallFollower {
public:
  /// Every event of the run, in order; T is its time.
  void event(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload, Timestamp T);

  /// The thread that runs; null before the first one does.
  CallTracker *running() { return Running ? &Running->Calls : nullptr; }
  /// Null: never seen, or gone.
  CallTracker *thread(uint32_t Number);
  /// A handler that is about to be entered: its frame is made, the registers
  /// are not yet changed.
  struct Signal {
    uint64_t StackPointer = 0; ///< 0: not known
    bool AlternateStack = false;
  };
  llvm::ArrayRef<Signal> signalsOf(uint32_t Number);
  /// Makes a thread known whose stacks were written to the file.
  void add(uint32_t Number, CallTracker Calls, llvm::ArrayRef<Signal> Signals);

  /// Threads that ran or changed since the last call and are still there, in
  /// order.
  std::vector<uint32_t> takeChanged();
  /// Snapshots that did not have the stack pointer we followed: 0, or our
  /// mistake. The snapshot counts.
  uint64_t surprises() const { return Surprises; }

private:
  struct Thread {
    explicit Thread(CallTracker Calls) : Calls(std::move(Calls)) {}
    CallTracker Calls;
    llvm::SmallVector<Signal, 1> Signals;
    bool Faulted = false;
    bool Changed = true;
  };
  void registers(Thread &T, llvm::ArrayRef<uint8_t> Payload, Timestamp When);
  Thread *find(uint32_t Number);

  llvm::DenseMap<uint32_t, std::unique_ptr<Thread>> Threads;
  Thread *Running = nullptr;
  uint64_t Surprises = 0;
};

} // namespace chronicle

#endif
