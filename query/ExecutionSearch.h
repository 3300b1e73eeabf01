// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Searches for executions of code.

#ifndef CHRONICLE_QUERY_EXECUTIONSEARCH_H
#define CHRONICLE_QUERY_EXECUTIONSEARCH_H

#include "query/CodeTable.h"
#include "query/StateCache.h"

namespace chronicle {

/// Addresses give superblocks, superblocks give blocks by the file's index, and
/// a block's sequence is walked, not replayed. Costs a look into the index for
/// the thousand blocks around an answer, and reading each block that has one.
class ExecutionSearch {
public:
  ExecutionSearch(StateCache &States, const CodeTable &Code)
      : States(States), Code(Code) {}

  /// Instructions executed whose address is in the range, in order or newest
  /// first. Thread 0: any.
  llvm::Error find(AddressRange Range, TimeRange When, uint32_t Thread,
                   bool Backward,
                   llvm::function_ref<bool(const Execution &)> Visit,
                   const Cancellation *Cancel) const;
  llvm::Expected<uint64_t> count(AddressRange Range, TimeRange When,
                                 uint32_t Thread,
                                 const Cancellation *Cancel) const;

private:
  llvm::Error
  visitBlocks(AddressRange Range, TimeRange When, uint32_t Thread,
              bool Backward,
              llvm::function_ref<llvm::Expected<bool>(BlockNumber)> Visit,
              const Cancellation *Cancel) const;
  llvm::Error walk(BlockNumber N, AddressRange Range, TimeRange When,
                   uint32_t Thread,
                   llvm::function_ref<void(const ExecutionWalk::Item &,
                                           uint32_t First, uint32_t Count)>
                       Visit) const;

  StateCache &States;
  const CodeTable &Code;
};

} // namespace chronicle

#endif
