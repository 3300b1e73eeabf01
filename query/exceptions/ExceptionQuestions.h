// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The C++ exceptions of a run: what was thrown, where, and what caught it.

#ifndef CHRONICLE_QUERY_EXCEPTIONS_EXCEPTIONQUESTIONS_H
#define CHRONICLE_QUERY_EXCEPTIONS_EXCEPTIONQUESTIONS_H

#include "query/questions/Place.h"
#include "query/questions/Search.h"

namespace chronicle::exceptions {

/// A call into the C++ runtime, at the moment of its call instruction.
struct RuntimeCall {
  Timestamp Time = 0;
  questions::Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<questions::Place> Caller;
};

/// One throw, or one rethrow.
struct ExceptionAnswer {
  uint32_t Thread = 0;
  bool Rethrown = false;
  uint64_t Object = 0;
  std::string Type; ///< demangled; empty: it could not be read
  /// Its message: from memory, or what the program itself got from what().
  /// Nothing: neither says.
  std::optional<std::string> What;
  RuntimeCall Thrown;
  /// The handler. Nothing: not within the run, or std::terminate() followed.
  std::optional<RuntimeCall> Caught;
};

/// Every throw and rethrow within Options.When. The runtime's functions are
/// found by their names; fails if no module has them. Each result costs some
/// call stacks and a search for its handler.
llvm::Expected<questions::SearchEnd>
searchExceptions(const query::Trace &T, const questions::SearchOptions &Options,
                 questions::Visitor<ExceptionAnswer> Visit,
                 const answers::Cancellation &Cancel);

} // namespace chronicle::exceptions

#endif
