// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The executions of a block, without replay.

#ifndef CHRONICLE_QUERY_CODE_EXECUTIONWALK_H
#define CHRONICLE_QUERY_CODE_EXECUTIONWALK_H

#include "query/code/CodeTable.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace chronicle::code {

/// Goes through the executions of a block, with their times and threads. Walks
/// the recorded sequence: replays nothing, and reads no definition unless facts
/// are asked for.
class ExecutionWalk {
public:
  ExecutionWalk(const CodeTable &Code, const file::TraceReader &Trace,
                const Block &B)
      : Code(Code), Trace(Trace), B(B), Passed(Code.passed()), Time(B.First) {}

  struct Item {
    uint64_t Index; ///< in the block
    Timestamp Time; ///< of its first instruction
    uint32_t Thread;
    uint32_t Exit;
    uint32_t Superblock;
    uint32_t Passed; ///< instructions
    bool Faults;
    // Set by addFacts():
    const CodeFacts *Facts;
    uint32_t Ordinal; ///< of the exit
  };
  /// Called with each event before the next execution, in order, and the time
  /// from which the event is seen.
  llvm::function_ref<void(const Event &, Timestamp)> OnEvent;

  /// False at the end, after the last event.
  llvm::Expected<bool> next(Item &I);
  llvm::Error addFacts(Item &I) const;
  Timestamp time() const { return Time; }

private:
  const CodeTable &Code;
  const file::TraceReader &Trace;
  const Block &B;
  const llvm::ArrayRef<uint8_t> Passed; ///< by exit
  Timestamp Time;
  uint64_t Index = 0;
  size_t NextEvent = 0;
  uint32_t Thread = 0;
};

} // namespace chronicle::code

#endif
