// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When the function began that an activation is in.

#ifndef CHRONICLE_QUERY_QUESTIONS_FUNCTIONENTRY_H
#define CHRONICLE_QUERY_QUESTIONS_FUNCTIONENTRY_H

#include "query/Trace.h"

namespace chronicle::questions {

/// The address of the instruction that the thread ran directly before the one
/// at Time. Nothing: Time is 0, or another thread ran then.
llvm::Expected<std::optional<uint64_t>>
instructionBefore(const query::Trace &T, uint32_t Thread, Timestamp Time);

/// An execution of a function's first instruction.
struct FunctionEntry {
  Timestamp Time = 0;
  uint64_t Address = 0;
};

/// When the function was entered that the activation is in at At, where
/// A.Pc must be of that moment. That is when the activation began or, after a
/// tail call or a jump through the linkage table, later. Nothing: it is not
/// known. Costs a search for executions and the call stack at a few of them.
llvm::Expected<std::optional<FunctionEntry>>
functionEntry(const query::Trace &T, const answers::Activation &A,
              Timestamp At);

} // namespace chronicle::questions

#endif
