// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// System calls: their entry and their exit in one.

#ifndef CHRONICLE_QUERY_QUESTIONS_SYSTEMCALLQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_SYSTEMCALLQUESTIONS_H

#include "query/Trace.h"
#include "query/questions/Search.h"
#include <array>

namespace chronicle::questions {

struct SystemCall {
  uint32_t Number = 0, Thread = 0;
  std::optional<Timestamp> Entered;
  std::optional<std::array<uint64_t, 6>> Arguments;
  std::optional<Timestamp> Returned; ///< nothing: not within the run
  std::optional<int64_t> Result;     ///< -errno if it failed
};

/// The system call of that number that the thread was in at that moment: the
/// last one entered, and how it returns. What is not found stays empty.
llvm::Expected<SystemCall> systemCallAt(const query::Trace &T, uint32_t Number,
                                        uint32_t Thread, Timestamp At);

/// System calls in order of their entry. Numbers: only these; empty: all. The
/// visitor is called when the search is over, because results come later than
/// entries. Reads all system call events of the time range until the limit is
/// reached.
llvm::Expected<SearchEnd>
searchSystemCalls(const query::Trace &T, llvm::ArrayRef<uint32_t> Numbers,
                  const SearchOptions &Options, Visitor<SystemCall> Visit,
                  const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
