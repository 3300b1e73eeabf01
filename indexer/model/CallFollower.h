// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Drives the CallTrackers of all threads from a block's events. What happens
/// between superblocks is the same in the stream and in the file, so indexer
/// and query engine share it.

#ifndef CHRONICLE_INDEXER_MODEL_CALLFOLLOWER_H
#define CHRONICLE_INDEXER_MODEL_CALLFOLLOWER_H

#include "indexer/model/CallTracker.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace chronicle::model {

/// Events cost next to nothing. The caller feeds executions to running()
/// directly.
class CallFollower {
public:
  /// Follows an event. Call for every event of the run, in order; T is its
  /// time.
  void event(uint32_t Kind, llvm::ArrayRef<uint8_t> Payload, Timestamp T);

  /// The thread that runs; null before the first one does.
  CallTracker *running() { return Running ? &Running->Calls : nullptr; }
  /// Null if the thread was never seen, or has exited.
  CallTracker *thread(uint32_t Number);
  llvm::ArrayRef<pieces::PendingSignal> signalsOf(uint32_t Number);
  /// Makes a thread known whose stacks were written to the file.
  void add(uint32_t Number, CallTracker Calls,
           llvm::ArrayRef<pieces::PendingSignal> Signals);

  /// Makes a thread known whose stacks are not in the file yet.
  void inherit(uint32_t Number, CallTracker Calls);

  /// Threads that ran or changed since the last call and are still there, in
  /// order.
  std::vector<uint32_t> takeChanged();
  /// Snapshots whose stack pointer differs from the one that was followed. If
  /// this is not 0, Chronicle has a defect. The snapshot's value is used.
  uint64_t surprises() const { return Surprises; }

private:
  struct Thread {
    explicit Thread(CallTracker Calls) : Calls(std::move(Calls)) {}
    CallTracker Calls;
    llvm::SmallVector<pieces::PendingSignal, 1> Signals;
    bool Faulted = false;
    bool Changed = true;
  };
  void snapshot(const events::SnapshotEvent &E, Timestamp When);
  void registers(Thread &T, const events::RegistersEvent &E, Timestamp When);
  Thread *find(uint32_t Number);

  llvm::DenseMap<uint32_t, std::unique_ptr<Thread>> Threads;
  Thread *Running = nullptr;
  uint64_t Surprises = 0;
};

} // namespace chronicle::model

#endif
