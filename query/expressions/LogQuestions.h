// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Every execution of a line or of a function's start, with values: a printf
/// that was not there when the program ran.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_LOGQUESTIONS_H
#define CHRONICLE_QUERY_EXPRESSIONS_LOGQUESTIONS_H

#include "query/expressions/Evaluator.h"
#include "query/questions/CodePlaces.h"
#include "query/questions/Place.h"
#include "query/questions/Search.h"

namespace chronicle::expressions {

/// A value as people and programs read it.
struct LoggedValue {
  bool Known = false;
  std::string Text; ///< if it is not known, why
  std::string Type; ///< empty: not known
  /// The text that a pointer to char points to.
  std::optional<std::string> Pointed;
};

struct LogRow {
  CodeMoment At;
  questions::Place Where;
  std::vector<LoggedValue> Values; ///< in the order of the expressions
};

struct LogRequest {
  questions::CodeSelector Code;
  std::vector<std::string> Print;
  std::string Where; ///< only if this is true; empty: always
  questions::SearchOptions Options;
};

/// Reads what is not simple, and makes the texts. This one has no debugger.
class LogReader {
public:
  virtual ~LogReader();
  /// The expression's value at the moment, at which State is.
  virtual llvm::Expected<LoggedValue> show(const Question &Q, const Outcome &O,
                                           const CodeMoment &At,
                                           StateReader &State);
  /// Whether a condition holds that is not simple. An EvaluationError: there is
  /// no answer.
  virtual llvm::Expected<bool> holds(const Question &Q, const Outcome &O,
                                     const CodeMoment &At);
};

/// What a condition left out because it could not be evaluated.
struct LeftOut {
  uint64_t Count = 0;
  Timestamp First = 0;
  std::string Why; ///< at First
};

struct LogEnd : questions::SearchEnd {
  LeftOut Unknown;
};

/// Finds the executions as questions::searchExecutions() does; of a function,
/// its calls, each at the moment at which its parameters are set up. Simple
/// expressions cost some microseconds per execution, besides the replay of the
/// blocks that they are in.
llvm::Expected<LogEnd> searchLog(const query::Trace &T,
                                 const LogRequest &Request, LogReader &Reader,
                                 questions::Visitor<LogRow> Visit,
                                 const answers::Cancellation &Cancel);

} // namespace chronicle::expressions

#endif
