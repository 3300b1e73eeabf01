// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// System calls: their entry and their exit in one.

#ifndef CHRONICLE_QUERY_QUESTIONS_SYSTEMCALLQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_SYSTEMCALLQUESTIONS_H

#include "query/answers/SystemCall.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"

namespace chronicle::questions {

struct SystemCall : answers::SystemCall {
  std::string Text; ///< as strace prints it
};

/// A system call of the run, and who made it.
struct SystemCallAnswer {
  SystemCall Call;
  Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<Place> Caller;
};

/// The system call of that number that the thread was in at that moment: the
/// last one entered, and how it returns. What is not found stays empty. Costs
/// two searches for events and reads of the memory that the arguments point to.
llvm::Expected<SystemCall> systemCallAt(const query::Trace &T, uint32_t Number,
                                        uint32_t Thread, Timestamp At);

/// "no system call is called 'raed'; did you mean 'read'?"
std::string unknownSystemCall(llvm::StringRef Name);

/// System calls in order of their entry. Numbers: only these; empty: all. The
/// visitor is called when the search is over, because results come later than
/// entries. Reads all system call events of the time range until the limit is
/// reached. Every result costs a call stack and reads of memory.
llvm::Expected<SearchEnd>
searchSystemCalls(const query::Trace &T, llvm::ArrayRef<uint32_t> Numbers,
                  const SearchOptions &Options, Visitor<SystemCallAnswer> Visit,
                  const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
