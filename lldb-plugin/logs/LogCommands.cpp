// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// log.

#include "lldb-plugin/logs/LogCommands.h"
#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/logs/LldbLogReader.h"
#include "lldb-plugin/target/Describe.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::logs {

using namespace commands;
using expressions::LoggedValue;
using expressions::LogRow;

/// What the words and options ask for.
static Expected<expressions::LogRequest>
logRequest(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.words().empty())
    return createStringError("missing argument: give file:line or a function, "
                             "and expressions");
  expressions::LogRequest Request;
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Request.Options = *Options;
  if (Error E =
          questions::parseCode(Call.words().front()).moveInto(Request.Code))
    return E;
  Request.Where = Call.value("where").trim().str();
  if (Call.has("where") && Request.Where.empty())
    return createStringError("--where needs a condition");
  const std::string List = join(Call.words().drop_front(), " ");
  if (!List.empty())
    if (Error E = expressions::splitList(List).moveInto(Request.Print))
      return E;
  return Request;
}

static std::string textOf(const LoggedValue &V) {
  return V.Known ? V.Text : "<" + V.Text + ">";
}

static void printRows(CommandCall &Call, const expressions::LogRequest &Request,
                      ArrayRef<LogRow> Found) {
  const target::Style How = Call.style();
  std::vector<target::Table::Column> Columns = {
      {"time", target::Table::Role::Time}, "thread"};
  for (const std::string &Each : Request.Print)
    Columns.emplace_back(Each.c_str());
  Columns.emplace_back("place", target::Table::Role::Place);
  target::Table Rows(std::move(Columns));
  for (const LogRow &Row : Found) {
    std::vector<std::string> Cells = {groupedDigits(Row.At.Time),
                                      std::to_string(Row.At.Thread)};
    for (const LoggedValue &V : Row.Values)
      Cells.push_back(textOf(V));
    Cells.push_back(target::placeOf(Row.Where, How));
    Rows.add(std::move(Cells));
  }
  Call.print(Rows, Request.Where.empty()
                       ? "It does not run."
                       : "It never runs while the condition is true.");
}

static Error log(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<expressions::LogRequest> Request = logRequest(Call, Loaded);
  if (!Request)
    return Request.takeError();
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  LldbLogReader Reader(**There);
  expressions::LeftOut Unknown;
  Expected<SearchResult<LogRow>> Found = Call.collect<LogRow>(
      [&](questions::Visitor<LogRow> Visit, const answers::Cancellation &Cancel)
          -> Expected<questions::SearchEnd> {
        Expected<expressions::LogEnd> End = expressions::searchLog(
            Loaded.trace(), *Request, Reader, Visit, Cancel);
        if (!End)
          return End.takeError();
        Unknown = End->Unknown;
        return *End;
      });
  if (!Found)
    return Found.takeError();
  for (const std::string &Each : Request->Print)
    if (std::optional<std::string> Why = Reader.misunderstood(Each))
      return createStringError(formatv("cannot evaluate '{0}' at {1}: {2}",
                                       Each, Call.words().front(), *Why));
  if (Call.json()) {
    json::Array Rows;
    for (const LogRow &Row : Found->Answers)
      Rows.push_back(jsonapi::toJSON(Row, Request->Print));
    Call.printResults(std::move(Rows), *Found);
    return Error::success();
  }
  printRows(Call, *Request, Found->Answers);
  if (Unknown.Count)
    Call.print(formatv("{0} execution(s) are left out, because '{1}' cannot be "
                       "evaluated there, the first at time {2}: {3}.\n",
                       groupedDigits(Unknown.Count), Request->Where,
                       groupedDigits(Unknown.First),
                       StringRef(Unknown.Why).rtrim('.'))
                   .str());
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> logCommands() {
  static const OptionSpec LogOptions[] = {
      {"where", 0, "condition", "Only executions at which this is true."},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "log",
       .Run = log,
       .Help = "Show every execution of a line or a function, with the values "
               "of expressions: a printf that was not there.",
       .Arguments = "<file>:<line> | <function> | <address> "
                    "['<expression>, ...'] [--where <condition>]",
       .Details =
           "Newest execution first. The values are those before the line runs; "
           "of a function, those at the start of each call, when its "
           "parameters are set up. 'chronicle goto' takes the times.\n"
           "Variables, members, elements, dereferences, registers ($rdi), "
           "whole numbers and C's operators take microseconds per execution; "
           "LLDB evaluates any other expression, which takes milliseconds.\n",
       .Examples = "  chronicle log demo.c:26 'From, To, Amount'\n"
                   "  chronicle log transfer Amount --where 'Amount > 250'\n"
                   "  chronicle log list.c:44 'Node->Next, Node->Size * 2' "
                   "--oldest-first\n",
       .Options = LogOptions,
       .Words = Completes::Location},
  };
  return Table;
}

} // namespace chronicle::logs
