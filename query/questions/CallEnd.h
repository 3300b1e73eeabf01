// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a call was left: not every call returns.

#ifndef CHRONICLE_QUERY_QUESTIONS_CALLEND_H
#define CHRONICLE_QUERY_QUESTIONS_CALLEND_H

#include "query/Trace.h"

namespace chronicle::questions {

struct CallEnd {
  enum class Kind {
    Return,    ///< it went on after the call
    Exception, ///< an exception that was caught further out, or a destructor
               ///< or another cleanup on the way there
    Longjmp,   ///< longjmp or one of its kind
    Jump,      ///< anything else: its return address was overwritten, ...
    ThreadEnd, ///< its thread ended first
    RunEnd,    ///< it was under way when the run ended
  };
  Kind How = Kind::RunEnd;
  /// The moment after; for ThreadEnd, when the thread ended if it was still
  /// under way then. Nothing: not within the run.
  std::optional<Timestamp> Time;
  /// rax then. Only of calls that returned: the others have no result.
  std::optional<uint64_t> Value;

  /// The moment after the call, if it returned.
  std::optional<Timestamp> returned() const {
    return How == Kind::Return ? Time : std::nullopt;
  }
};

/// Costs what Trace::returnOf() costs, and two or three blocks.
llvm::Expected<CallEnd> endOf(const query::Trace &T,
                              const answers::Activation &A);

/// "return", "exception", "longjmp", "jump", "thread-end", "run-end".
llvm::StringRef nameOf(CallEnd::Kind How);

} // namespace chronicle::questions

#endif
