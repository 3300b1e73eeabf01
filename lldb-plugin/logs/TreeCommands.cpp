// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// tree.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/logs/LogCommands.h"
#include "lldb-plugin/target/Table.h"
#include "query/expressions/CallTree.h"
#include "query/json/JsonValues.h"
#include "query/variables/CallScope.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::logs {

using namespace commands;
using expressions::LoggedValue;
using expressions::TreeCall;

namespace {
/// Values as LLDB shows them, if they are simple.
class TreeReader : public expressions::LogReader {
public:
  Expected<LoggedValue> show(const expressions::Question &Q,
                             const expressions::Outcome &O,
                             const expressions::CodeMoment &At,
                             expressions::StateReader &State) override {
    LoggedValue Result;
    if (O.What == expressions::Outcome::Kind::Value) {
      Result.Known = true;
      Result.Type = O.Result.Of->Name;
      Result.Text =
          lldbText(O.Result, State).value_or(expressions::plainText(O.Result));
      return Result;
    }
    // What is not simple is not worth milliseconds in a tree of many calls.
    Result.Text = O.What == expressions::Outcome::Kind::NoValue ? O.Why : "...";
    return Result;
  }
};
} // namespace

static std::string valueText(const LoggedValue &V) {
  if (V.Known || V.Text == "...")
    return V.Text;
  return "<" + V.Text + ">";
}

/// "  step(N=3) = 4", indented by its depth.
static std::string callText(const TreeCall &C, const target::Style &How) {
  std::string Text(size_t(C.Depth) * 2, ' ');
  const std::string Name =
      C.Function.empty() ? formatv("{0:x}", C.Call.Function.Pc).str()
                         : How.name(StringRef(C.Function).split('(').first);
  if (C.Folded)
    return Text + formatv("... {0}{1} more call{2} of {3}, the last at {4}",
                          C.MayGoOn ? "at least " : "", groupedDigits(C.Folded),
                          C.Folded == 1 ? "" : "s", Name, groupedDigits(C.Last))
                      .str();
  Text += Name + "(";
  if (!C.HasArguments)
    Text += "...";
  for (const auto &[Index, Each] : enumerate(C.Arguments))
    Text += (Index ? ", " : "") + Each.first + (Each.first.empty() ? "" : "=") +
            valueText(Each.second);
  Text += ")";
  if (C.Result)
    Text += " = " + valueText(*C.Result);
  const questions::CallEnd::Kind How_ = C.Call.End->How;
  if (How_ != questions::CallEnd::Kind::Return)
    Text += formatv(", left by {0}", nameOf(How_));
  return Text;
}

/// The call whose tree is wanted: that of the selected frame or, with --from
/// and --to, the innermost one that is under way all the time.
static Expected<expressions::TreeRequest>
treeRequest(CommandCall &Call, target::LoadedTrace &Loaded) {
  const query::Trace &T = Loaded.trace();
  const Timestamp Now = Loaded.position().Time;
  expressions::TreeRequest Request;
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Request.When = Options->When;
  Expected<uint64_t> Depth = Call.number("depth", 3);
  if (!Depth)
    return Depth.takeError();
  Request.Depth = unsigned(std::min<uint64_t>(*Depth, UINT32_MAX));
  constexpr uint64_t DefaultLimit = 100;
  Request.Limit = Call.has("limit") ? Options->Limit : DefaultLimit;
  const bool Range = Call.has("from") || Call.has("to");
  const Timestamp At = Range ? Request.When.First : Now;
  uint32_t Thread = Options->Thread;
  if (!Thread && !Range)
    Thread = Call.selectedThread(Loaded);
  if (Error E = questions::liveThread(T, Thread, At).moveInto(Thread))
    return E;
  if (Range) {
    Expected<std::optional<answers::Activation>> Root =
        expressions::callDuring(T, Thread, Request.When);
    if (!Root)
      return Root.takeError();
    if (!*Root)
      return createStringError(formatv(
          "thread {0} is in no call from time {1} to {2}", Thread,
          groupedDigits(Request.When.First), groupedDigits(Request.When.Last)));
    Request.Root = **Root;
    return Request;
  }
  lldb::SBFrame Frame = Call.selectedFrame();
  Expected<std::optional<variables::CallScope>> Scope =
      Call.has("thread") || !Frame.IsValid()
          ? variables::callScope(T, Thread, Now, 0)
          : variables::callScopeByCfa(T, Thread, Now, Frame.GetCFA());
  if (!Scope)
    return Scope.takeError();
  if (!*Scope)
    return createStringError("the selected frame is no call that the trace "
                             "knows: give --from and --to");
  Request.Root = (*Scope)->Call;
  return Request;
}

static Error tree(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<expressions::TreeRequest> Request = treeRequest(Call, Loaded);
  if (!Request)
    return Request.takeError();
  TreeReader Reader;
  Expected<SearchResult<TreeCall>> Found =
      Call.collect<TreeCall>([&](questions::Visitor<TreeCall> Visit,
                                 const answers::Cancellation &Cancel) {
        return expressions::searchTree(Loaded.trace(), *Request, Reader, Visit,
                                       Cancel);
      });
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    json::Array Results;
    for (const TreeCall &C : Found->Answers)
      Results.push_back(jsonapi::toJSON(C));
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows(
      {{"time", target::Table::Role::Time}, "instructions", "call"});
  for (const TreeCall &C : Found->Answers)
    Rows.add({groupedDigits(C.Call.Entry),
              C.Folded ? "-" : groupedDigits(C.Instructions),
              callText(C, How)});
  Call.print(Rows, "No calls.");
  if (Found->Interrupted)
    Call.print("Interrupted: there may be more.\n");
  else if (Found->More)
    Call.print("There are more: raise --limit, or give --from and --to.\n");
  return Error::success();
}

ArrayRef<CommandSpec> treeCommands() {
  static const OptionSpec Options[] = {
      {"depth", 'd', "count",
       "How many calls deep the tree is (default 3; 0: the call alone)."},
      {"from", 0, "moment",
       "The tree of the time from here on, instead of that of a call.",
       Completes::Moment},
      {"to", 0, "moment", "The tree of the time until here.",
       Completes::Moment},
      ThreadOption,
      {"limit", 'n', "count", "Maximum number of lines (default 100)."},
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "tree",
       .Run = tree,
       .Help = "Show what the present call called, and what those called, with "
               "arguments, results and instructions.",
       .Arguments = "[--depth <count>] [--from <moment>] [--to <moment>]",
       .Details =
           "The call is that of the selected frame; the whole of it is shown, "
           "also what is still to come. With --from or --to, the innermost "
           "call that is under way all that time, and what it calls then. "
           "Calls of one function that follow each other are folded after the "
           "first. The instructions are those of the run while the call is "
           "under way, also of other threads. 'chronicle goto' takes the "
           "times.\n",
       .Examples = "  chronicle tree\n"
                   "  chronicle tree --depth 1 --limit 500\n"
                   "  chronicle tree --from 1,000,000 --to +5,000\n",
       .Options = Options,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::logs
