// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The moments of a run that have names.

#ifndef CHRONICLE_QUERY_NAMEDMOMENT_H
#define CHRONICLE_QUERY_NAMEDMOMENT_H

#include "query/Trace.h"

namespace chronicle::query {

/// The moment that a word names: "start", "end", or "crash", which is the end
/// of a run that a signal ended. Nothing: the word names no moment. Fails for
/// "crash" if the program did not crash.
llvm::Expected<std::optional<Timestamp>> namedMoment(const Trace &T,
                                                     llvm::StringRef Name);

} // namespace chronicle::query

#endif
