// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When a call has set up its parameters.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_STARTFINDER_H
#define CHRONICLE_QUERY_EXPRESSIONS_STARTFINDER_H

#include "query/expressions/Evaluator.h"

namespace chronicle::expressions {

/// Finds the moments after the prologues of many calls. A prologue mostly takes
/// the same number of instructions each time; where it does not, a call costs a
/// search and two call stacks.
class StartFinder {
public:
  StartFinder(const query::Trace &T, Evaluator &E) : T(T), E(E) {}

  /// Nothing: the call ended before. Entry is at the function's first
  /// instruction.
  llvm::Expected<std::optional<CodeMoment>> start(const CodeMoment &Entry);

private:
  llvm::Expected<std::optional<Timestamp>> search(const CodeMoment &Entry,
                                                  uint64_t Pc);

  const query::Trace &T;
  Evaluator &E;
  std::map<uint64_t, uint64_t> Lengths; ///< of prologues, by their ends
};

} // namespace chronicle::expressions

#endif
