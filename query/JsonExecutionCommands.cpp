// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-execution, next-execution, executions, count-executions.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "query/JsonPlaces.h"

using namespace llvm;

namespace chronicle {

/// 0: any.
static uint32_t optionalThread(JsonQuery &Q) {
  return static_cast<uint32_t>(Q.Arguments.number("thread", 0, 0, UINT32_MAX));
}

static Expected<json::Value> oneExecution(JsonQuery &Q, bool Backward) {
  bool HasAt = Q.Arguments.has("at");
  TimeRange When = Q.Arguments.times();
  if (HasAt && (Q.Arguments.has("from") || Q.Arguments.has("to")))
    Q.Arguments.fail("bad-argument",
                     "'at' cannot be combined with 'from' and 'to'");
  uint32_t Thread = optionalThread(Q);
  bool Nothing = false; // there is no time before the start
  if (HasAt) {
    Timestamp At = Q.Arguments.time("at");
    if (!Backward)
      When.First = At;
    else if (At > 0)
      When.Last = At - 1;
    Nothing = Backward && At == 0;
  }
  Expected<std::vector<CodePlace>> Places = codeArgument(Q, When);
  if (!Places)
    return Places.takeError();
  if (Nothing)
    return nullptr;
  std::optional<Execution> Found;
  Error E = mergedExecutions(
      Q.T, *Places, Thread, Backward,
      [&](const Execution &X) {
        Found = X;
        return false;
      },
      Q.Cancel);
  if (E)
    return E;
  return Found ? json::Value(jsonExecution(Q.T, *Found)) : json::Value(nullptr);
}

static Expected<json::Value> lastExecution(JsonQuery &Q) {
  return oneExecution(Q, /*Backward=*/true);
}
static Expected<json::Value> nextExecution(JsonQuery &Q) {
  return oneExecution(Q, /*Backward=*/false);
}

static Expected<json::Value> executions(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  bool Backward = Q.Arguments.flag("backward", false);
  uint32_t Thread = optionalThread(Q);
  Expected<std::vector<CodePlace>> Places = codeArgument(Q, When);
  if (!Places)
    return Places.takeError();
  uint64_t Count = 0;
  bool More = false;
  Error E = mergedExecutions(
      Q.T, *Places, Thread, Backward,
      [&](const Execution &X) {
        if (Count == Limit) {
          More = true;
          return false;
        }
        ++Count;
        return Q.Emit(jsonExecution(Q.T, X));
      },
      Q.Cancel);
  if (E)
    return E;
  return json::Object{{"count", Count}, {"more", More}};
}

static Expected<json::Value> countExecutions(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint32_t Thread = optionalThread(Q);
  Expected<std::vector<CodePlace>> Places = codeArgument(Q, When);
  if (!Places)
    return Places.takeError();
  uint64_t Count = 0;
  for (const CodePlace &P : *Places) {
    Expected<uint64_t> N =
        Q.T.countExecutions(P.Range, P.When, Thread, &Q.Cancel);
    if (!N)
      return N.takeError();
    Count += *N;
  }
  return json::Object{{"count", Count}};
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

} // namespace chronicle
