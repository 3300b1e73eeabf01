// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Call stacks from history: who called whom, when, and when it was over.

#ifndef CHRONICLE_QUERY_CALLS_H
#define CHRONICLE_QUERY_CALLS_H

#include "query/BlockCalls.h"
#include <list>

namespace chronicle {

/// Keeps the calls of blocks it was asked about, within Bytes: of the first
/// stack in a block as far as that needs, from the second question on all. May
/// be used from several threads at once.
class CallHistory {
public:
  CallHistory(StateCache &States, const CodeTable &Code, uint64_t Bytes)
      : States(States), Code(Code), Budget(Bytes) {}

  /// The activations of the thread at T, innermost first. One block.
  llvm::Expected<std::vector<Activation>> stackAt(uint32_t Thread, Timestamp T);
  /// When the activation ends; nothing: not within the run. The logarithm of
  /// the blocks it lives through, and two blocks.
  llvm::Expected<std::optional<Timestamp>> returnOf(const Activation &A);
  /// As Trace::stretchBefore().
  llvm::Expected<std::optional<TimeRange>> stretchBefore(const Activation &A,
                                                         Timestamp T);
  /// The calls it makes itself, in order. A block for each stretch in which it
  /// runs itself.
  llvm::Error callees(const Activation &A,
                      llvm::function_ref<bool(const Activation &)> Visit,
                      const Cancellation *Cancel);

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
  llvm::Expected<Place> find(const Activation &A);
  llvm::Expected<Activation> describe(const BlockCalls::Node &N);
  llvm::Error enter(CallRecord &Call, uint32_t Thread);
  llvm::Expected<uint64_t> interruptedPc(const BlockCalls::Node &N);
  llvm::Expected<uint32_t> aliveAtEnd(uint32_t Number, uint32_t Thread,
                                      BlockNumber N);
  llvm::Expected<std::optional<BlockNumber>>
  lastBlock(uint32_t Number, uint32_t Thread, BlockNumber After);

  StateCache &States;
  const CodeTable &Code;
  const uint64_t Budget;
  std::mutex Lock;
  struct Entry {
    BlockNumber Block;
    std::shared_ptr<const BlockCalls> Calls;
  };
  std::list<Entry> Recent; ///< latest first
  uint64_t Bytes = 0;
};

} // namespace chronicle

#endif
