// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Simple expressions at the start of calls, and about their results.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_CALLEVALUATOR_H
#define CHRONICLE_QUERY_EXPRESSIONS_CALLEVALUATOR_H

#include "query/expressions/LogQuestions.h"
#include "query/expressions/StartFinder.h"
#include "query/questions/CallQuestions.h"

namespace chronicle::expressions {

/// Evaluates expressions where a breakpoint on the called function stops, once
/// its parameters are set up. `$result` is what the call returned. Calls in
/// order of time are cheap, as for Evaluator.
class CallEvaluator {
public:
  explicit CallEvaluator(const query::Trace &T) : T(T), E(T), Starts(T, E) {}

  /// Goes to the start of a call. Nothing: it ended in its prologue.
  llvm::Expected<std::optional<CodeMoment>>
  go(const questions::CallAnswer &Call);
  /// At the call that it went to.
  llvm::Expected<Outcome> evaluate(Question &Q, const CodeMoment &At) {
    return E.evaluate(Q, At);
  }
  StateReader &state() { return E.state(); }

private:
  const query::Trace &T;
  Evaluator E;
  StartFinder Starts;
};

/// Calls that have something in common.
struct CallGroup {
  std::string Key;
  uint64_t Count = 0;
  Timestamp First = 0, Last = 0; ///< the starts of the oldest and newest one
};

/// Counts calls by a key.
class CallGroups {
public:
  void add(llvm::StringRef Key, Timestamp Start);
  /// The largest group first; of groups of one size, the one that began first.
  std::vector<CallGroup> sorted() const;
  uint64_t calls() const { return Calls; }

private:
  std::map<std::string, CallGroup, std::less<>> Groups;
  uint64_t Calls = 0;
};

/// Who called, in one line: "main at demo.c:42", or an address.
std::string callerKey(const questions::CallAnswer &Call);

} // namespace chronicle::expressions

#endif
