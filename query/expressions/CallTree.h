// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a call called, and what those called, with arguments and results.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_CALLTREE_H
#define CHRONICLE_QUERY_EXPRESSIONS_CALLTREE_H

#include "query/expressions/CallEvaluator.h"

namespace chronicle::expressions {

/// A call of the tree, or several calls of one function that are not shown one
/// by one.
struct TreeCall {
  unsigned Depth = 0;         ///< 0: the call whose tree it is
  questions::CallAnswer Call; ///< without its callers
  std::string Function;
  bool HasArguments = false; ///< whether they are known: there is debug info
  std::vector<std::pair<std::string, LoggedValue>> Arguments;
  std::optional<LoggedValue> Result; ///< nothing: none, or not known
  uint64_t Instructions = 0;         ///< of the run, until the call ended
  /// 0: the call itself. Otherwise this stands for so many calls after it, of
  /// the same function in the same call.
  uint64_t Folded = 0;
  Timestamp Last = 0;   ///< of the calls that are folded: when the last began
  bool MayGoOn = false; ///< there may be more of them
};

struct TreeRequest {
  answers::Activation Root;
  unsigned Depth = 3;
  uint64_t Limit = 100; ///< maximum number of results
  /// Only calls that are under way during this time.
  answers::TimeRange When;
};

/// Visits the tree: a call, then what it called, in order of time. Calls of one
/// function that directly follow each other in one call are folded after the
/// first. Every result costs the values of the call and its end; the calls of a
/// call cost a block for each stretch in which it runs itself, for no more than
/// 1,000 of them.
llvm::Expected<questions::SearchEnd>
searchTree(const query::Trace &T, const TreeRequest &Request, LogReader &Reader,
           questions::Visitor<TreeCall> Visit,
           const answers::Cancellation &Cancel);

/// The innermost call that the thread is in during all of When. Nothing: it is
/// in none.
llvm::Expected<std::optional<answers::Activation>>
callDuring(const query::Trace &T, uint32_t Thread, answers::TimeRange When);

} // namespace chronicle::expressions

#endif
