// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The arguments that say which memory, which code, which thread or which
/// activation a request is about.

#ifndef CHRONICLE_QUERY_JSONPLACES_H
#define CHRONICLE_QUERY_JSONPLACES_H

#include "query/JsonCommands.h"
#include "query/Symbols.h"

namespace chronicle {

/// "address" and "length"; or "global", a variable's name, of those there are
/// at any time of When, of which "offset" and "length" may take a part. A
/// thread-local one is that of "thread" at At; without it of the one that runs
/// then.
llvm::Expected<AddressRange> memoryArgument(JsonQuery &Q, uint64_t MaxLength,
                                            TimeRange When, Timestamp At);

/// Code, and the time for which it was at that address.
struct CodePlace {
  AddressRange Range;
  TimeRange When;
};

/// One of: "address" (with "length": a range), "function" (its first
/// instruction), "inside" (any instruction of that function), "file" and "line"
/// (the first instructions of the line's code). Sorted, without overlap; cut to
/// When. Functions that the dynamic linker chose (ifunc) are where they turned
/// out to be.
llvm::Expected<std::vector<CodePlace>> codeArgument(JsonQuery &Q,
                                                    TimeRange When);

/// The entry addresses of the functions of that name.
llvm::Expected<std::vector<CodePlace>>
functionEntries(JsonQuery &Q, llvm::StringRef Name, TimeRange When);

struct ThreadMoment {
  Timestamp At;
  uint32_t Thread;
};

/// "at", and "thread", which must be alive then; without it the one that runs
/// then. Comes after all other arguments: checks that there are no more.
llvm::Expected<ThreadMoment> threadMomentArgument(JsonQuery &Q);

/// Executions of several places, in order.
llvm::Error mergedExecutions(const Trace &T, llvm::ArrayRef<CodePlace> Places,
                             uint32_t Thread, bool Backward,
                             llvm::function_ref<bool(const Execution &)> Visit,
                             const Cancellation &Cancel);

} // namespace chronicle

#endif
