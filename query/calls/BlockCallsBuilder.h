// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the calls of a block.

#ifndef CHRONICLE_QUERY_CALLS_BLOCKCALLSBUILDER_H
#define CHRONICLE_QUERY_CALLS_BLOCKCALLSBUILDER_H

#include "indexer/model/CallFollower.h"
#include "query/calls/StackLoader.h"
#include "query/code/ExecutionWalk.h"

namespace chronicle::calls {

/// Follows the calls of a block from its start. In the trackers' records, Node
/// is the index of the activation in Nodes, plus 1.
class BlockCallsBuilder {
public:
  BlockCallsBuilder(state::StateCache &States, const code::CodeTable &Code,
                    state::StateCursor Cursor, BlockCalls &Result)
      : States(States), Code(Code), Cursor(std::move(Cursor)), Result(Result),
        Stacks(States, Result) {}

  llvm::Error run();

private:
  using Node = BlockCalls::Node;

  llvm::Error load(uint32_t Thread);
  llvm::Error event(const Event &E, Timestamp T);
  llvm::Error follow(const code::ExecutionWalk::Item &I);
  llvm::Error followExit(const code::ExecutionWalk::Item &I,
                         model::CallTracker &Calls);
  void beforeEvent(const Event &E);
  llvm::Expected<uint64_t> stackPointerAt(const code::ExecutionWalk::Item &I,
                                          Timestamp T);
  llvm::Error endInside(const code::ExecutionWalk::Item &I);
  void end(const pieces::CallRecord &Call, Timestamp T);
  llvm::Error update(uint32_t Thread, model::CallTracker &Calls, Timestamp T);
  void number(uint32_t Thread, model::CallTracker &Calls);
  void note(uint32_t Thread, uint32_t Innermost, Timestamp T);
  llvm::Error numberAtEnd();

  state::StateCache &States;
  const code::CodeTable &Code;
  state::StateCursor Cursor;
  BlockCalls &Result;
  StackLoader Stacks;
  model::CallFollower Follower;
  std::vector<pieces::CallRecord> Ended;
  llvm::DenseMap<const Event *, uint64_t> PcBefore; ///< by change of registers
  const code::ExecutionWalk::Item *Wanted = nullptr;
  std::optional<uint64_t> StackPointerSeen;
};

} // namespace chronicle::calls

#endif
