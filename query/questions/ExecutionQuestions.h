// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When code ran, with names.

#ifndef CHRONICLE_QUERY_QUESTIONS_EXECUTIONQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_EXECUTIONQUESTIONS_H

#include "query/questions/CodePlaces.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"

namespace chronicle::questions {

struct ExecutionAnswer {
  answers::Execution Execution;
  Place Where;
};

/// The first execution within Options.When, or with Backward the last one. An
/// empty time range, whose First is after its Last, has none; names that do not
/// exist are still an error.
llvm::Expected<std::optional<ExecutionAnswer>>
oneExecution(const query::Trace &T, const CodeSelector &Code,
             const SearchOptions &Options, const answers::Cancellation &Cancel);

llvm::Expected<SearchEnd> searchExecutions(const query::Trace &T,
                                           const CodeSelector &Code,
                                           const SearchOptions &Options,
                                           Visitor<ExecutionAnswer> Visit,
                                           const answers::Cancellation &Cancel);

/// Only the time range and the thread of Options are used.
llvm::Expected<uint64_t> countExecutions(const query::Trace &T,
                                         const CodeSelector &Code,
                                         const SearchOptions &Options,
                                         const answers::Cancellation &Cancel);

/// Executions of several places in order of time, newest first with
/// Options.Backward. Uses neither the limit nor the time range of Options:
/// every place has its own.
llvm::Error
mergedExecutions(const query::Trace &T, llvm::ArrayRef<CodePlace> Places,
                 const SearchOptions &Options,
                 llvm::function_ref<bool(const answers::Execution &)> Visit,
                 const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
