// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When the function began that an activation is in, and how: by a call, a
/// jump, or a return that was meant for other code.

#ifndef CHRONICLE_QUERY_QUESTIONS_FUNCTIONENTRY_H
#define CHRONICLE_QUERY_QUESTIONS_FUNCTIONENTRY_H

#include "query/Trace.h"
#include "query/symbols/Symbols.h"

namespace chronicle::questions {

/// The address of the instruction that the thread ran directly before the one
/// at Time. Nothing: Time is 0, or another thread ran then.
llvm::Expected<std::optional<uint64_t>>
instructionBefore(const query::Trace &T, uint32_t Thread, Timestamp Time);

/// The function that the code belongs to; its address is 0 if it is not known.
/// Rarely used code that the compiler put elsewhere (".cold") belongs to the
/// function it came from.
symbols::SymbolAt functionAt(const query::Trace &T, uint64_t Pc,
                             Timestamp Time);

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

/// Call stacks of code that a return led into although nothing had called it: a
/// return address was overwritten with that of other code.
///
/// As Trace::callStack(). By the stack pointer alone, code that a return led
/// into runs in the activation of the caller that was to be returned to. Here
/// it has an entry of its own, with Jumped, and then comes the stack of the
/// code that returned, as it was then; so a chain of such returns is shown from
/// its last link to its first. What cannot be told from a tail call is none.
///
/// Costs the names of the functions on the stack. For one that is not the
/// function that was called, also a few stretches of the activation.
llvm::Expected<std::vector<answers::Activation>>
stackWithStrayReturns(const query::Trace &T, uint32_t Thread, Timestamp At,
                      size_t Most = ~size_t(0));

} // namespace chronicle::questions

#endif
