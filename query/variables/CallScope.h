// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A call under way, and the moment at which its registers are its own.

#ifndef CHRONICLE_QUERY_VARIABLES_CALLSCOPE_H
#define CHRONICLE_QUERY_VARIABLES_CALLSCOPE_H

#include "query/Trace.h"

namespace chronicle::variables {

/// A call of the stack of a thread. What its registers hold is known at Now:
/// for the innermost call that is the moment asked about, for the others the
/// moment when they made the call that is under way.
struct CallScope {
  answers::Activation Call;
  Timestamp Now = 0;
};

/// The call of that index in the call stack, the innermost being 0. Nothing:
/// the stack has fewer.
llvm::Expected<std::optional<CallScope>>
callScope(const query::Trace &T, uint32_t Thread, Timestamp At, size_t Index);
/// The call whose frame has that canonical frame address. Nothing: none has.
llvm::Expected<std::optional<CallScope>> callScopeByCfa(const query::Trace &T,
                                                        uint32_t Thread,
                                                        Timestamp At,
                                                        uint64_t Cfa);

/// From the call's entry to its end, or to the end of the run.
llvm::Expected<answers::TimeRange> timeOf(const query::Trace &T,
                                          const answers::Activation &Call);

} // namespace chronicle::variables

#endif
