// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// calls.

#include "lldb-plugin/logs/CallSearch.h"
#include "lldb-plugin/logs/LogCommands.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/answers/RunEnd.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::logs {

using namespace commands;
using questions::CallAnswer;
using values::Described;

/// How a call was left that did not return; else empty.
static std::string leavingText(const CallAnswer &Call, const query::Trace &T) {
  if (!Call.End)
    return "";
  const std::string At = Call.End->Time
                             ? " at time " + groupedDigits(*Call.End->Time)
                             : std::string();
  switch (Call.End->How) {
  case questions::CallEnd::Kind::Return:
    return "";
  case questions::CallEnd::Kind::Exception:
    return ", left by an exception" + At;
  case questions::CallEnd::Kind::Longjmp:
    return ", left by longjmp" + At;
  case questions::CallEnd::Kind::Jump:
    return ", left by a jump" + At;
  case questions::CallEnd::Kind::ThreadEnd:
    return ", left when its thread ended" + At;
  case questions::CallEnd::Kind::RunEnd:
    return ", under way at the end: the program " +
           answers::RunEnd::of(T.reader().end()).text();
  }
  llvm_unreachable("there is no other way to leave a call");
}

/// "transfer(From=1, To=2) = 3"; without debug info the first registers.
static std::string callText(const Described<CallAnswer> &D,
                            const query::Trace &T, const target::Style &How) {
  std::string Text =
      values::functionName(D.Call.Function, How, D.Call.Inlined) + "(";
  if (D.Values.Parameters)
    Text += parametersText(*D.Values.Parameters);
  else if (D.Call.Inlined)
    Text += "...";
  else
    Text += formatv("rdi={0:x}, rsi={1:x}, rdx={2:x}, ...", D.Call.Arguments[0],
                    D.Call.Arguments[1], D.Call.Arguments[2]);
  Text += ")";
  if (!D.Values.Result.Value.empty())
    Text += " = " + D.Values.Result.Value;
  else if (D.Values.Result.MayBeDropped)
    Text += " = <may be dropped>";
  else if (!D.Values.Parameters && D.Call.End && D.Call.End->Value)
    Text += formatv(" = rax {0:x}", *D.Call.End->Value);
  return Text + leavingText(D.Call, T);
}

static std::string returnText(const CallAnswer &Call) {
  if (Call.Inlined)
    return "inlined";
  const auto Time = Call.End ? Call.End->returned() : std::nullopt;
  return Time ? groupedDigits(*Time) : "-";
}

static Error printGroups(CommandCall &Call, const CallRequest &Request,
                         const expressions::CallGroups &Groups, uint64_t Limit,
                         SearchStatus Status) {
  std::vector<expressions::CallGroup> Sorted = Groups.sorted();
  Status.More |= Sorted.size() > Limit;
  if (Sorted.size() > Limit)
    Sorted.resize(Limit);
  if (Call.json()) {
    json::Array Results;
    for (const expressions::CallGroup &G : Sorted)
      Results.push_back(jsonapi::toJSON(G));
    Call.printResults(std::move(Results), Status);
    return Error::success();
  }
  target::Table Rows(
      std::vector<target::Table::Column>{"calls",
                                         {"first", target::Table::Role::Time},
                                         {"last", target::Table::Role::Time},
                                         Request.GroupBy.c_str()});
  for (const expressions::CallGroup &G : Sorted)
    Rows.add({groupedDigits(G.Count), groupedDigits(G.First),
              groupedDigits(G.Last), G.Key});
  Call.print(Rows, "No such call.");
  if (Status.Interrupted)
    Call.print("Interrupted: there may be more.\n");
  else if (Status.More)
    Call.print("There are more groups: raise --limit.\n");
  return Error::success();
}

static void printCalls(CommandCall &Call, const query::Trace &T,
                       const CallRequest &Request, ArrayRef<CallRow> Found) {
  const target::Style How = Call.style();
  std::vector<target::Table::Column> Columns = {
      {"start", target::Table::Role::Time},
      {"return", target::Table::Role::Time},
      "thread",
      "call"};
  for (const std::string &Each : Request.Print)
    Columns.emplace_back(Each.c_str());
  Columns.emplace_back("caller", target::Table::Role::Place);
  target::Table Rows(std::move(Columns));
  for (const CallRow &Row : Found) {
    const CallAnswer &Each = Row.Described.Call;
    std::vector<std::string> Cells = {
        groupedDigits(Row.Described.Values.Start), returnText(Each),
        std::to_string(Each.Thread), callText(Row.Described, T, How)};
    for (const expressions::LoggedValue &V : Row.Printed)
      Cells.push_back(V.Known ? V.Text : "<" + V.Text + ">");
    Cells.push_back(
        Each.Caller ? target::placeOf(*Each.Caller, Each.Outside, How) : "");
    Rows.add(std::move(Cells));
  }
  Call.print(Rows, "No such call.");
}

static Expected<CallRequest> callRequest(CommandCall &Call) {
  CallRequest Request;
  Request.Function = Call.text();
  if (Request.Function.empty())
    return createStringError("missing argument: name a function");
  Request.Where = Call.value("where").trim().str();
  Request.GroupBy = Call.value("group-by").trim().str();
  if (Call.has("group-by") && Request.GroupBy.empty())
    return createStringError(
        "--group-by needs caller, thread or an expression");
  for (StringRef Each : Call.values("print")) {
    Expected<std::vector<std::string>> List = expressions::splitList(Each);
    if (!List)
      return List.takeError();
    append_range(Request.Print, *List);
  }
  if (!Request.Print.empty() && !Request.GroupBy.empty())
    return createStringError("give --print or --group-by, not both");
  return Request;
}

static Error calls(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<CallRequest> Request = callRequest(Call);
  if (!Request)
    return Request.takeError();
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Expected<values::CallReader> Reader = values::CallReader::make(Loaded);
  if (!Reader)
    return Reader.takeError();
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  CallSearch Search(Call, Loaded.trace(), std::move(*Reader), **There,
                    *Request);
  if (!Request->GroupBy.empty()) {
    SearchStatus Status;
    Expected<expressions::CallGroups> Groups = Search.group(*Options, Status);
    if (!Groups)
      return Groups.takeError();
    if (std::string Why = Search.misunderstood(); !Why.empty())
      return createStringError(Why);
    if (Error E = printGroups(Call, *Request, *Groups, Options->Limit, Status))
      return E;
    if (!Call.json())
      Call.print(Search.notes());
    return Error::success();
  }
  Expected<SearchResult<CallRow>> Found = Search.run(*Options);
  if (!Found)
    return Found.takeError();
  if (std::string Why = Search.misunderstood(); !Why.empty())
    return createStringError(Why);
  if (Call.json()) {
    json::Array Results;
    for (const CallRow &Row : Found->Answers) {
      json::Object O = toJSON(Row.Described);
      if (!Request->Print.empty())
        O["values"] = jsonapi::jsonValues(Row.Printed, Request->Print);
      Results.push_back(std::move(O));
    }
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  printCalls(Call, Loaded.trace(), *Request, Found->Answers);
  Call.print(Search.notes());
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> callListCommands() {
  static const OptionSpec CallOptions[] = {
      {"where", 0, "expression",
       "Only calls for which this is true; it may name the parameters, and "
       "$result, which is what the call returned."},
      {"print", 'p', "expression",
       "Also show these expressions, as they are at the start of the call; a "
       "list with commas. May be repeated."},
      {"group-by", 'g', "expression",
       "Count the calls instead: by caller, by thread, or by the value of an "
       "expression. --limit is the number of groups."},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "calls",
       .Run = calls,
       .Help = "Show every call of a function, with its arguments and what it "
               "returned.",
       .Arguments = "<function> | <pattern> [--where <expression>] [--print "
                    "<expression>] [--group-by caller|thread|<expression>]",
       .Details =
           "Newest call first. Arguments are as they were at the call. The "
           "times are those at which a breakpoint on the function stops; "
           "'chronicle goto' takes them. An inlined function has a line for "
           "each time its code began.\n"
           "A pattern with *, ? or [...] stands for all functions whose whole "
           "names match, with or without argument types. Code that was inlined "
           "is found only by the name of its function.\n"
           "Simple expressions (variables, members, elements, dereferences, "
           "registers, numbers and C's operators) take microseconds per call; "
           "LLDB evaluates any other expression.\n",
       .Examples = "  chronicle calls transfer\n"
                   "  chronicle calls transfer --where 'Amount < 0'\n"
                   "  chronicle calls 'Cache::*' --group-by caller\n"
                   "  chronicle calls find --where '$result == 0' --print "
                   "'Key->Size'\n"
                   "  chronicle calls malloc --limit 5 --to -1\n",
       .Options = CallOptions,
       .Words = Completes::Function},
  };
  return Table;
}

} // namespace chronicle::logs
