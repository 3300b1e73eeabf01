// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Who wrote to a register, with names, values and system calls.

#ifndef CHRONICLE_QUERY_VARIABLES_REGISTERQUESTIONS_H
#define CHRONICLE_QUERY_VARIABLES_REGISTERQUESTIONS_H

#include "query/origins/ValueEngine.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"
#include "query/questions/SystemCallQuestions.h"
#include "query/registers/RegisterNames.h"
#include "query/variables/CallScope.h"

namespace chronicle::variables {

struct RegisterWriteAnswer {
  answers::RegisterWrite Write;
  registers::Register Register; ///< of the question
  /// Its value before and after. Old is empty if it had none.
  std::vector<uint8_t> Old, New;
  questions::Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<questions::Place> Caller;
  std::optional<questions::SystemCall> Call; ///< of a write by a system call
};

/// The last write within the call that is visible at At, or the first one that
/// is not yet. What the call's callees write counts. Costs as
/// ValueEngine::registerWrites(), one block for the values, and a call stack if
/// the system's code wrote.
llvm::Expected<std::optional<RegisterWriteAnswer>>
lastRegisterWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const CallScope &Scope, const registers::Register &R,
                  Timestamp At, const answers::Cancellation &Cancel);
llvm::Expected<std::optional<RegisterWriteAnswer>>
nextRegisterWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const CallScope &Scope, const registers::Register &R,
                  Timestamp At, const answers::Cancellation &Cancel);
/// The writes of the thread that the options name.
llvm::Expected<questions::SearchEnd>
searchRegisterWrites(const query::Trace &T, origins::ValueEngine &Engine,
                     const registers::Register &R,
                     const questions::SearchOptions &Options,
                     questions::Visitor<RegisterWriteAnswer> Visit,
                     const answers::Cancellation &Cancel);

/// The write with names and values.
llvm::Expected<RegisterWriteAnswer>
describeWrite(const query::Trace &T, origins::ValueEngine &Engine,
              const registers::Register &R, const answers::RegisterWrite &W);

} // namespace chronicle::variables

#endif
