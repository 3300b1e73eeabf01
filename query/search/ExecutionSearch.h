// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Searches for executions of code.

#ifndef CHRONICLE_QUERY_SEARCH_EXECUTIONSEARCH_H
#define CHRONICLE_QUERY_SEARCH_EXECUTIONSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Execution.h"
#include "query/answers/Ranges.h"
#include "query/code/ExecutionWalk.h"
#include "query/state/StateCache.h"

namespace chronicle::search {

/// Finds the superblocks at the addresses, then their blocks by the file's
/// index, and walks the sequence of each block without replay. Costs reading
/// the index for the thousand blocks around an answer, and each block that has
/// one.
class ExecutionSearch {
public:
  ExecutionSearch(state::StateCache &States, const code::CodeTable &Code)
      : States(States), Code(Code) {}

  /// Visits executed instructions whose address is in the range, in order or
  /// newest first. Thread 0 means any.
  llvm::Error find(answers::AddressRange Range, answers::TimeRange When,
                   uint32_t Thread, bool Backward,
                   llvm::function_ref<bool(const answers::Execution &)> Visit,
                   const answers::Cancellation *Cancel) const;
  llvm::Expected<uint64_t> count(answers::AddressRange Range,
                                 answers::TimeRange When, uint32_t Thread,
                                 const answers::Cancellation *Cancel) const;

private:
  llvm::Error
  visitBlocks(answers::AddressRange Range, answers::TimeRange When,
              uint32_t Thread, bool Backward,
              llvm::function_ref<llvm::Expected<bool>(BlockNumber)> Visit,
              const answers::Cancellation *Cancel) const;
  llvm::Error walk(BlockNumber N, answers::AddressRange Range,
                   answers::TimeRange When, uint32_t Thread,
                   llvm::function_ref<void(const code::ExecutionWalk::Item &,
                                           uint32_t First, uint32_t Count)>
                       Visit) const;

  state::StateCache &States;
  const code::CodeTable &Code;
};

} // namespace chronicle::search

#endif
