// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Who wrote to memory, with names and system calls.

#ifndef CHRONICLE_QUERY_QUESTIONS_WRITEQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_WRITEQUESTIONS_H

#include "query/questions/Place.h"
#include "query/questions/Search.h"
#include "query/questions/SystemCallQuestions.h"

namespace chronicle::questions {

struct WriteAnswer {
  answers::Write Write;
  answers::AddressRange Asked; ///< the range of the question
  Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<Place> Caller;
  std::optional<SystemCall> Call; ///< of a write by a system call
};

/// The last write that is visible at At, or the first one that is not yet.
/// Costs as Trace::writes(), a call stack if the system's code wrote, and a
/// search for two events if a system call did.
llvm::Expected<std::optional<WriteAnswer>>
lastWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel);
llvm::Expected<std::optional<WriteAnswer>>
nextWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel);

llvm::Expected<SearchEnd> searchWrites(const query::Trace &T,
                                       answers::AddressRange Range,
                                       const SearchOptions &Options,
                                       Visitor<WriteAnswer> Visit,
                                       const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
