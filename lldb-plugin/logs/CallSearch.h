// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The calls of functions that a condition wants, with values.

#ifndef CHRONICLE_LLDB_PLUGIN_LOGS_CALLSEARCH_H
#define CHRONICLE_LLDB_PLUGIN_LOGS_CALLSEARCH_H

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/logs/LldbLogReader.h"
#include "lldb-plugin/values/CallFilter.h"
#include "lldb-plugin/values/DescribedCall.h"
#include "query/expressions/CallEvaluator.h"

namespace chronicle::logs {

/// A line of the table.
struct CallRow {
  values::Described<questions::CallAnswer> Described;
  std::vector<expressions::LoggedValue> Printed;
};

/// What is asked about the calls of a function.
struct CallRequest {
  std::string Function; ///< a name, or a pattern
  std::string Where;    ///< a condition; empty: all calls
  std::vector<std::string> Print;
  std::string GroupBy; ///< "caller", "thread", an expression, or empty
};

/// Finds the calls of a function. Simple expressions take microseconds per
/// call; LLDB evaluates others, and reads the parameters of the calls that are
/// shown, which takes milliseconds.
class CallSearch {
public:
  CallSearch(commands::CommandCall &Call, const query::Trace &T,
             values::CallReader Reader, target::Scout &There,
             CallRequest Request);

  /// The calls that are wanted, up to the limit of the options.
  llvm::Expected<commands::SearchResult<CallRow>>
  run(questions::SearchOptions Options);
  /// Counts all calls that are wanted.
  llvm::Expected<expressions::CallGroups>
  group(questions::SearchOptions Options, commands::SearchStatus &Status);

  /// Sentences about what the search has left out.
  std::string notes() const { return Filter.notes(); }
  /// Why LLDB does not understand one of the expressions anywhere; else empty.
  std::string misunderstood() const;

private:
  /// A call that was found, and what became of it.
  struct Found {
    questions::CallAnswer Call;
    bool Wanted = false;
    Timestamp Start = 0;
    std::vector<expressions::LoggedValue> Printed;
  };
  /// Visits the calls that are wanted, a batch at a time.
  llvm::Error search(questions::SearchOptions Options,
                     commands::SearchStatus &Status,
                     llvm::function_ref<llvm::Expected<bool>(Found &)> Visit);
  llvm::Error decide(Found &F);
  llvm::Expected<bool> wants(const Found &F,
                             const std::optional<expressions::CodeMoment> &At);
  llvm::Expected<values::CallValues>
  valuesOf(const questions::CallAnswer &Call);

  commands::CommandCall &Call;
  const query::Trace &T;
  values::CallReader Reader;
  CallRequest Request;
  values::CallFilter Filter;
  LldbLogReader Values;
  expressions::CallEvaluator Evaluator;
  expressions::Question Condition;
  std::vector<expressions::Question> Columns; ///< the last one groups
};

} // namespace chronicle::logs

#endif
