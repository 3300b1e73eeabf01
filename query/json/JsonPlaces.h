// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The arguments that say which memory, which code, which thread or which
/// results a request is about.

#ifndef CHRONICLE_QUERY_JSON_JSONPLACES_H
#define CHRONICLE_QUERY_JSON_JSONPLACES_H

#include "query/json/JsonCommands.h"
#include "query/questions/CodePlaces.h"
#include "query/questions/Search.h"

namespace chronicle::jsonapi {

/// The most bytes that a search may be about: all that a program can have.
constexpr uint64_t MaxRange = uint64_t(1) << 47;

/// "address" and "length"; or "global", a variable's name, with "offset" and
/// "length" for a part of it. The variable must exist at some time of When. A
/// thread-local one is that of "thread" at At; without "thread", that of the
/// one that runs then. Comes after all other arguments: checks that there are
/// no more.
llvm::Expected<answers::AddressRange> memoryArgument(JsonQuery &Q,
                                                     uint64_t MaxLength,
                                                     answers::TimeRange When,
                                                     Timestamp At);

/// One of "address" (with "length": a range), "function" (its first
/// instruction), "inside" (any instruction of that function), "file" and
/// "line". Comes after all other arguments.
llvm::Expected<questions::CodeSelector> codeArgument(JsonQuery &Q);

/// "line": a line number.
uint32_t lineArgument(JsonQuery &Q);

/// "thread", of a search: only results of this one. 0: of any.
uint32_t threadArgument(JsonQuery &Q);

/// "from", "to" and "limit".
questions::SearchOptions searchArguments(JsonQuery &Q);

struct ThreadMoment {
  Timestamp At;
  uint32_t Thread;
};

/// "at", and "thread", which must be alive then; without "thread", the one that
/// runs then. Comes after all other arguments.
llvm::Expected<ThreadMoment> threadMomentArgument(JsonQuery &Q);

} // namespace chronicle::jsonapi

#endif
