// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The history of a variable that optimized code keeps in registers.

#ifndef CHRONICLE_QUERY_VARIABLES_VARIABLEWRITES_H
#define CHRONICLE_QUERY_VARIABLES_VARIABLEWRITES_H

#include "query/variables/RegisterQuestions.h"
#include "query/variables/VariableLocations.h"

namespace chronicle::variables {

/// A variable of one call.
struct RegisterVariable {
  CallScope Scope;
  registers::Register Register; ///< that it is in now, as wide as it is
  /// Where it is as long as the call is in this function.
  std::vector<VariableRange> Ranges;
};

/// The variable of that name that is in a register when the call is at
/// Scope.Now. Pc is the call's own: its instruction then, or that of the call
/// that it is in.
RegisterVariable registerVariable(const query::Trace &T, const CallScope &Scope,
                                  llvm::StringRef Name,
                                  const registers::Register &Register,
                                  uint64_t Pc);

/// Visits what gave the variable a value, in order or newest first: a write to
/// a register that the call then uses as the variable, until it is written
/// again. Moving the variable to another register is none, and neither is what
/// a callee does to a register that it restores. Old is empty where the
/// variable was in no register before. Costs as ValueEngine::registerWrites()
/// of all registers that the variable is ever in, and for each of those writes
/// a few searches for executions, call stacks and blocks.
llvm::Expected<questions::SearchEnd>
searchVariableWrites(const query::Trace &T, origins::ValueEngine &Engine,
                     const RegisterVariable &Variable,
                     const questions::SearchOptions &Options,
                     questions::Visitor<RegisterWriteAnswer> Visit,
                     const answers::Cancellation &Cancel);
/// The last of them within the call that is visible at Scope.Now, or the first
/// one that is not yet.
llvm::Expected<std::optional<RegisterWriteAnswer>>
lastVariableWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const RegisterVariable &Variable,
                  const answers::Cancellation &Cancel);
llvm::Expected<std::optional<RegisterWriteAnswer>>
nextVariableWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const RegisterVariable &Variable,
                  const answers::Cancellation &Cancel);

} // namespace chronicle::variables

#endif
