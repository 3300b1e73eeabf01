// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Searches for writes to registers.

#ifndef CHRONICLE_QUERY_REGISTERS_REGISTERSEARCH_H
#define CHRONICLE_QUERY_REGISTERS_REGISTERSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Ranges.h"
#include "query/code/ExecutionWalk.h"
#include "query/registers/RegisterFacts.h"
#include "query/state/StateCache.h"

namespace chronicle::registers {

/// The registers of a thread before and after a write, and nothing else that
/// happened at the same time.
struct Change {
  answers::Registers Old, New;
};

/// Finds writes to registers by the recorded sequence of superblocks, whose
/// definitions say what they write: a search replays nothing. It costs a walk
/// over the blocks in which the thread ran, from the first moment asked about
/// to the answer.
class RegisterSearch {
public:
  RegisterSearch(state::StateCache &States, const code::CodeTable &Code)
      : States(States), Code(Code), Facts(States.reader()) {}

  /// Visits the thread's writes to any of the bytes, in order or newest first.
  /// What one instruction writes is one write. All bytes of the x87's stack
  /// count as written when one of its registers is.
  llvm::Error
  find(uint32_t Thread, llvm::ArrayRef<answers::StateRange> Bytes,
       answers::TimeRange When, bool Backward,
       llvm::function_ref<bool(const answers::RegisterWrite &)> Visit,
       const answers::Cancellation *Cancel) const;
  /// Costs one block.
  llvm::Expected<Change> change(const answers::RegisterWrite &W) const;
  const RegisterTable &facts() const { return Facts; }

private:
  llvm::Expected<std::vector<answers::RegisterWrite>>
  inBlock(BlockNumber N, uint32_t Thread,
          llvm::ArrayRef<answers::StateRange> Bytes,
          answers::TimeRange When) const;

  state::StateCache &States;
  const code::CodeTable &Code;
  RegisterTable Facts;
};

} // namespace chronicle::registers

#endif
