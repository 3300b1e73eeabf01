// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-exec, next-exec, executions.

#include "lldb-plugin/commands/CodeLocation.h"
#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/CallReader.h"
#include "query/json/JsonAnswers.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

using questions::ExecutionAnswer;
using values::CallReader;

Expected<questions::CodeSelector> location(CommandCall &Call) {
  std::string Text = Call.text();
  if (Text.empty()) {
    lldb::SBFrame Frame = Call.selectedFrame();
    if (!Frame.IsValid())
      return createStringError("missing argument: give a function, file:line "
                               "or an address");
    return answers::AddressRange{Frame.GetPC(), Frame.GetPC()};
  }
  Expected<questions::CodeSelector> Code = questions::parseCode(Text);
  if (Code)
    if (auto *Function = std::get_if<questions::FunctionName>(&*Code))
      Function->Whole = Call.has("inside");
  return Code;
}

/// The last execution before At, or the first one from At on.
static Expected<std::optional<ExecutionAnswer>>
executionFrom(CommandCall &Call, const query::Trace &T,
              const questions::CodeSelector &Code, uint32_t Thread,
              Timestamp At, bool Backward) {
  questions::SearchOptions Options;
  Options.Backward = Backward;
  Options.Thread = Thread;
  if (!Backward)
    Options.When = {At, T.instructions()};
  else if (At)
    Options.When = {0, At - 1};
  else
    Options.When = {1, 0}; // there is no time before the start
  return Call.ask<std::optional<ExecutionAnswer>>(
      [&](const answers::Cancellation &Cancel) {
        return questions::oneExecution(T, Code, Options, Cancel);
      });
}

static Error oneExecution(CommandCall &Call, target::LoadedTrace &Loaded,
                          bool Backward) {
  Expected<questions::CodeSelector> Code = location(Call);
  if (!Code)
    return Code.takeError();
  Expected<uint32_t> Thread = Call.threadOption();
  if (!Thread)
    return Thread.takeError();
  const query::Trace &T = Loaded.trace();
  Timestamp Here = Loaded.position().Time;
  const auto *Function = std::get_if<questions::FunctionName>(&*Code);
  // A function's variables are set up where a breakpoint on it stops.
  std::optional<CallReader> Reader;
  if (Function && !Function->Whole) {
    Expected<CallReader> Made = CallReader::make(Loaded);
    if (!Made)
      return Made.takeError();
    Reader.emplace(std::move(*Made));
  }
  // The instruction that runs now is neither before nor after.
  Timestamp At = Backward ? Here : std::min(Here + 1, T.instructions());
  Timestamp Stop = 0;
  std::optional<ExecutionAnswer> Found;
  do {
    Expected<std::optional<ExecutionAnswer>> Answer =
        executionFrom(Call, T, *Code, *Thread, At, Backward);
    if (!Answer)
      return Answer.takeError();
    Found = std::move(*Answer);
    if (!Found)
      return createStringError(
          formatv("{0} does not run {1} time {2}{3}",
                  Call.text().empty() ? "this instruction" : Call.text(),
                  Backward ? "before" : "after", groupedDigits(Here),
                  Backward ? "" : Call.cutOffNote()));
    Stop = At = Found->Execution.Time;
    if (Reader) {
      const answers::Execution &X = Found->Execution;
      values::CallMoment Entered;
      Entered.Entry = X.Time;
      Entered.Thread = X.Thread;
      Entered.Function = X.Pc;
      if (Error E = Reader->start(Entered).moveInto(Stop))
        return E;
    }
    // If its entry is behind us, the call that we are in is the present one.
  } while (Backward && Stop >= Here);
  const answers::Execution &X = Found->Execution;
  json::Object Answer = jsonapi::toJSON(*Found);
  const target::Style How = Call.style();
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(Answer));
    else
      Call.print(formatv("time {0}, thread {1}: {2:x} {3}\n", How.time(X.Time),
                         X.Thread, X.Pc,
                         How.place(target::placeOf(Found->Where, How)))
                     .str());
    return Error::success();
  }
  Answer["stopped-at"] = Stop;
  Call.jump(Loaded, {Stop, X.Thread},
            {.Kind = session::StopKind::Execution, .Time = Stop},
            std::move(Answer));
  return Error::success();
}

static Error lastExecution(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneExecution(Call, Loaded, /*Backward=*/true);
}
static Error nextExecution(CommandCall &Call, target::LoadedTrace &Loaded) {
  return oneExecution(Call, Loaded, /*Backward=*/false);
}

static Error executions(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Expected<questions::CodeSelector> Code = location(Call);
  if (!Code)
    return Code.takeError();
  Expected<SearchResult<ExecutionAnswer>> Found = Call.collect<ExecutionAnswer>(
      [&](questions::Visitor<ExecutionAnswer> Visit,
          const answers::Cancellation &Cancel) {
        return questions::searchExecutions(Loaded.trace(), *Code, *Options,
                                           Visit, Cancel);
      });
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    Call.printResults(jsonapi::jsonArray(Found->Answers), *Found);
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "pc",
                      {"place", target::Table::Role::Place}});
  for (const ExecutionAnswer &X : Found->Answers)
    Rows.add(
        {groupedDigits(X.Execution.Time), std::to_string(X.Execution.Thread),
         jsonapi::hexNumber(X.Execution.Pc), target::placeOf(X.Where, How)});
  Call.print(Rows, "It does not run.");
  Call.printEnd(*Found);
  return Error::success();
}

ArrayRef<CommandSpec> executionCommands() {
  static const OptionSpec Inside = {
      "inside", 0, nullptr,
      "Any instruction of the function, not only the first one."};
  static const OptionSpec OneOptions[] = {Inside, ThreadOption, NoJumpOption,
                                          FullOption, JsonOption};
  static const OptionSpec AllOptions[] = {
      Inside,      FromOption,        ToOption,   ThreadOption,
      LimitOption, OldestFirstOption, FullOption, JsonOption};
  static const char *const Details =
      "The location is a function (its first instruction, also where it was "
      "inlined), file:line (the start of the line's code) or an address; "
      "without one, the present instruction.\n";
  static const CommandSpec Table[] = {
      {.Name = "last-exec",
       .Run = lastExecution,
       .Help = "Go back to where a function, a line or an instruction ran "
               "last.",
       .Arguments = "[<function> | <file>:<line> | <address>]",
       .Details = Details,
       .Examples = "  chronicle last-exec transfer\n"
                   "  chronicle last-exec demo.c:26\n"
                   "  chronicle last-exec --no-jump 0x401136\n",
       .Options = OneOptions,
       .Words = Completes::Location,
       .Repeat = nullptr},
      {.Name = "next-exec",
       .Run = nextExecution,
       .Help = "Go forward to where a function, a line or an instruction runs "
               "next.",
       .Arguments = "[<function> | <file>:<line> | <address>]",
       .Details = Details,
       .Examples = "  chronicle next-exec transfer\n",
       .Options = OneOptions,
       .Words = Completes::Location,
       .Repeat = nullptr},
      {.Name = "executions",
       .Run = executions,
       .Help = "Show when a function, a line or an instruction ran.",
       .Arguments = "[<function> | <file>:<line> | <address>]",
       .Details = Details,
       .Examples = "  chronicle executions demo.c:26 --limit 5\n"
                   "  chronicle executions transfer --from start --to -1\n",
       .Options = AllOptions,
       .Words = Completes::Location},
  };
  return Table;
}

} // namespace chronicle::commands
