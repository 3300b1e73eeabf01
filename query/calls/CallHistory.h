// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Call stacks from history: which function called which, when, and when it
/// returned.

#ifndef CHRONICLE_QUERY_CALLS_CALLHISTORY_H
#define CHRONICLE_QUERY_CALLS_CALLHISTORY_H

#include "query/answers/Activation.h"
#include "query/answers/Cancellation.h"
#include "query/calls/BlockCalls.h"
#include <list>

namespace chronicle::calls {

/// Keeps the calls of blocks that it was asked about, within Bytes. The first
/// question about a block follows it only as far as the answer needs; the
/// second one follows all of it. May be used from several threads at once.
class CallHistory {
public:
  CallHistory(state::StateCache &States, const code::CodeTable &Code,
              uint64_t Bytes)
      : States(States), Code(Code), Budget(Bytes) {}

  /// The activations of the thread at T, innermost first, and no more than
  /// Most. Costs one block, and another one if a jump led to where nothing can
  /// be executed.
  llvm::Expected<std::vector<answers::Activation>>
  stackAt(uint32_t Thread, Timestamp T, size_t Most = ~size_t(0));
  /// When the activation ends; nothing: not within the run. Costs the logarithm
  /// of the number of blocks that it lives through, and two blocks.
  llvm::Expected<std::optional<Timestamp>>
  returnOf(const answers::Activation &A);
  /// As Trace::stretchBefore().
  llvm::Expected<std::optional<answers::TimeRange>>
  stretchBefore(const answers::Activation &A, Timestamp T);
  /// Visits the calls that the activation makes itself, from From on, in order.
  /// Costs one block for each stretch in which it runs itself since then.
  llvm::Error
  callees(const answers::Activation &A,
          llvm::function_ref<bool(const answers::Activation &)> Visit,
          const answers::Cancellation *Cancel, Timestamp From = 0);

private:
  /// An activation in a block.
  struct Place {
    BlockNumber Block;
    std::shared_ptr<const BlockCalls> Calls;
    uint32_t Node;
    const BlockCalls::Node &node() const { return Calls->node(Node); }
  };

  llvm::Expected<std::shared_ptr<const BlockCalls>>
  block(BlockNumber N, Timestamp Until = BlockCalls::Never);
  llvm::Expected<Place> innermost(uint32_t Thread, Timestamp T,
                                  Timestamp Until = BlockCalls::Never);
  llvm::Expected<Place> stackPlace(uint32_t Thread, Timestamp T);
  llvm::Expected<Place> find(const answers::Activation &A);
  llvm::Expected<answers::Activation> describe(const BlockCalls::Node &N);
  llvm::Error enter(pieces::CallRecord &Call, uint32_t Thread);
  llvm::Expected<std::optional<uint64_t>>
  interruptedPc(const BlockCalls::Node &N);
  llvm::Expected<bool> addJump(uint64_t Pc, uint32_t Thread, Timestamp T,
                               size_t Most,
                               std::vector<answers::Activation> &Result);
  llvm::Expected<uint32_t> aliveAtEnd(uint32_t Number, uint32_t Thread,
                                      BlockNumber N);
  llvm::Expected<std::optional<BlockNumber>>
  lastBlock(uint32_t Number, uint32_t Thread, BlockNumber After);

  state::StateCache &States;
  const code::CodeTable &Code;
  const uint64_t Budget;
  std::mutex Lock;
  struct Entry {
    BlockNumber Block;
    std::shared_ptr<const BlockCalls> Calls;
  };
  std::list<Entry> Recent; ///< latest first
  uint64_t Bytes = 0;
};

} // namespace chronicle::calls

#endif
