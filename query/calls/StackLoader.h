// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes the stacks that a thread has at the start of a block known, only as
/// far as the block needs them.

#ifndef CHRONICLE_QUERY_CALLS_STACKLOADER_H
#define CHRONICLE_QUERY_CALLS_STACKLOADER_H

#include "indexer/model/CallTracker.h"
#include "query/calls/BlockCalls.h"

namespace chronicle::calls {

/// A stack may be a million calls deep, of which a block returns from a few. So
/// the innermost calls of a stack are loaded first, and more of them when those
/// have ended, twice as many each time. The outer end of a stack that is not
/// loaded as a whole is a record of the tracker that never ends and has no
/// node.
class StackLoader {
public:
  StackLoader(state::StateCache &States, BlockCalls &Result)
      : States(States), Result(Result) {}

  /// The tracker of a thread whose stacks at the start of the block are these.
  llvm::Expected<model::CallTracker> load(const pieces::ThreadStacks &T);
  /// Loads more of the tracker's current stack until a call is known that has
  /// not ended. To be called after each change of the stack pointer.
  llvm::Error refill(uint32_t Thread, model::CallTracker &Calls) {
    return LLVM_LIKELY(!needsMore(Calls)) ? llvm::Error::success()
                                          : loadMore(Thread, Calls);
  }

private:
  /// The callee of a tracker's record that was entered in an earlier block,
  /// where its superblock is not known.
  static constexpr uint32_t EnteredEarlier = ~uint32_t(0);

  static bool needsMore(model::CallTracker &Calls) {
    const auto &Known = Calls.current().Calls;
    // A stack that has just begun has no node either.
    return Known.front().Callee == EnteredEarlier && !Known.front().Node &&
           (Known.size() == 1 || Known[1].Slot <= Calls.stackPointer());
  }
  llvm::Error loadMore(uint32_t Thread, model::CallTracker &Calls);
  static pieces::CallRecord outerEnd(uint32_t Node, size_t Loaded);
  llvm::Error append(uint32_t Thread, model::CallStackRecord &Stack,
                     uint32_t Inner, uint32_t Number, size_t Count);

  state::StateCache &States;
  BlockCalls &Result;
};

} // namespace chronicle::calls

#endif
