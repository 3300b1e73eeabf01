// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-execution, next-execution, executions, count-executions.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"

using namespace llvm;

namespace chronicle::jsonapi {

static Expected<json::Value> oneExecution(JsonQuery &Q, bool Backward) {
  questions::SearchOptions Options;
  Options.When = Q.Arguments.times();
  Options.Backward = Backward;
  if (Q.Arguments.has("at")) {
    if (Q.Arguments.has("from") || Q.Arguments.has("to"))
      Q.Arguments.fail("bad-argument",
                       "'at' cannot be combined with 'from' and 'to'");
    Timestamp At = Q.Arguments.time("at");
    if (!Backward)
      Options.When.First = At;
    else if (At > 0)
      Options.When.Last = At - 1;
    else
      Options.When = {1, 0}; // there is no time before the start
  }
  Options.Thread = threadArgument(Q);
  Expected<questions::CodeSelector> Code = codeArgument(Q);
  if (!Code)
    return Code.takeError();
  return toJSON(questions::oneExecution(Q.T, *Code, Options, Q.Cancel));
}

static Expected<json::Value> lastExecution(JsonQuery &Q) {
  return oneExecution(Q, /*Backward=*/true);
}
static Expected<json::Value> nextExecution(JsonQuery &Q) {
  return oneExecution(Q, /*Backward=*/false);
}

static Expected<json::Value> executions(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  Options.Thread = threadArgument(Q);
  Expected<questions::CodeSelector> Code = codeArgument(Q);
  if (!Code)
    return Code.takeError();
  return toJSON(questions::searchExecutions(
      Q.T, *Code, Options,
      [&](const questions::ExecutionAnswer &X) { return Q.Emit(toJSON(X)); },
      Q.Cancel));
}

static Expected<json::Value> countExecutions(JsonQuery &Q) {
  questions::SearchOptions Options;
  Options.When = Q.Arguments.times();
  Options.Thread = threadArgument(Q);
  Expected<questions::CodeSelector> Code = codeArgument(Q);
  if (!Code)
    return Code.takeError();
  Expected<uint64_t> Count =
      questions::countExecutions(Q.T, *Code, Options, Q.Cancel);
  if (!Count)
    return Count.takeError();
  return json::Object{{"count", *Count}};
}

ArrayRef<JsonCommand> jsonExecutionCommands() {
  static const JsonCommand Table[] = {
      {"last-execution", false, lastExecution},
      {"next-execution", false, nextExecution},
      {"executions", true, executions},
      {"count-executions", false, countExecutions},
  };
  return Table;
}

} // namespace chronicle::jsonapi
