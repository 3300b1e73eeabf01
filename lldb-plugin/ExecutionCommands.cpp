// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-exec, next-exec, executions.

#include "lldb-plugin/Describe.h"
#include "lldb-plugin/Values.h"

using namespace llvm;

namespace chronicle {

/// Which code: "file:line", an address, or a function; none: the selected
/// frame's pc.
static Expected<json::Object> location(CommandCall &Call) {
  std::string Text = Call.text();
  if (Text.empty()) {
    lldb::SBFrame Frame = Call.selectedFrame();
    if (!Frame.IsValid())
      return createStringError("which code? give a function, file:line or an "
                               "address");
    return json::Object{{"address", formatv("{0:x}", Frame.GetPC()).str()}};
  }
  uint64_t Number;
  StringRef Place = Text;
  if (!Place.getAsInteger(0, Number))
    return json::Object{{"address", formatv("{0:x}", Number).str()}};
  auto [File, Line] = Place.rsplit(':');
  if (!File.empty() && !File.ends_with(":") && !Line.empty() &&
      !Line.getAsInteger(10, Number))
    return json::Object{{"file", File.str()}, {"line", Number}};
  return json::Object{{Call.has("inside") ? "inside" : "function", Text}};
}

static Expected<json::Object> requestFor(CommandCall &Call) {
  Expected<json::Object> Request = location(Call);
  if (!Request)
    return Request.takeError();
  if (Call.has("thread")) {
    Expected<uint64_t> Thread = Call.number("thread", 0);
    if (!Thread)
      return Thread.takeError();
    (*Request)["thread"] = *Thread;
  }
  return Request;
}

/// Where to stop for an execution: of a function's first instruction where a
/// breakpoint on it would, since before that its variables are not there yet.
static Expected<Timestamp> stopFor(LoadedTrace &Loaded, const json::Object &X) {
  CallMoment Entered;
  Entered.Entry = X.getInteger("time").value_or(0);
  Entered.Thread = uint32_t(X.getInteger("thread").value_or(0));
  (void)X.getString("pc").value_or("").getAsInteger(0, Entered.Function);
  lldb::SBTarget Target = Loaded.process().GetTarget();
  lldb::SBFunction F =
      Target.ResolveLoadAddress(Entered.Function).GetFunction();
  if (!F.IsValid() ||
      F.GetStartAddress().GetLoadAddress(Target) != Entered.Function)
    return Entered.Entry;
  Expected<std::optional<Timestamp>> Ready =
      afterPrologue(Loaded.trace(), Entered, prologueOf(F));
  if (!Ready)
    return Ready.takeError();
  return Ready->value_or(Entered.Entry);
}

static Error oneExecution(CommandCall &Call, bool Backward) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<json::Object> Request = requestFor(Call);
  if (!Request)
    return Request.takeError();
  const Trace &T = (*L)->trace();
  Timestamp Here = (*L)->position().Time;
  bool IsFunction = Request->get("function");
  // What runs now is neither before nor after.
  Timestamp At = Backward ? Here : std::min(Here + 1, T.instructions());
  Timestamp Time = 0, Stop = 0;
  json::Value Found = nullptr;
  do {
    json::Object Part = *Request;
    Part["at"] = At;
    Expected<json::Value> Answer = Call.ask(
        T, Backward ? "last-execution" : "next-execution", std::move(Part));
    if (!Answer)
      return Answer.takeError();
    Found = std::move(*Answer);
    const json::Object *X = Found.getAsObject();
    if (!X)
      return createStringError(
          formatv("{0} does not run {1} time {2}",
                  Call.text().empty() ? "this instruction" : Call.text(),
                  Backward ? "before" : "after", Here));
    Time = Stop = At = X->getInteger("time").value_or(0);
    if (IsFunction) {
      Expected<Timestamp> Ready = stopFor(**L, *X);
      if (!Ready)
        return Ready.takeError();
      Stop = *Ready;
    }
    // The call that we are in, and whose entry is behind us, is the present
    // one.
  } while (Backward && Stop >= Here);
  json::Object &X = *Found.getAsObject();
  uint32_t Thread = uint32_t(X.getInteger("thread").value_or(0));
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(Found));
    else
      Call.print(formatv("time {0}, thread {1}: {2} {3}\n", Time, Thread,
                         X.getString("pc").value_or(""),
                         placeOf(X.get("symbol")))
                     .str());
    return Error::success();
  }
  X["stopped-at"] = Stop;
  Call.jump(**L, Stop, Thread, formatv("execution at time {0}", Time),
            std::move(Found));
  return Error::success();
}

static Error lastExecution(CommandCall &Call) {
  return oneExecution(Call, true);
}
static Error nextExecution(CommandCall &Call) {
  return oneExecution(Call, false);
}

static Error executions(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<json::Object> Request = Call.searchRequest(**L);
  if (!Request)
    return Request.takeError();
  Expected<json::Object> Where = location(Call);
  if (!Where)
    return Where.takeError();
  for (auto &[Key, Value] : *Where)
    (*Request)[Key] = std::move(Value);
  json::Array Results;
  Expected<json::Value> End =
      Call.collect((*L)->trace(), "executions", std::move(*Request), Results);
  if (!End)
    return End.takeError();
  if (Call.json()) {
    Call.printResults(std::move(Results), *End);
    return Error::success();
  }
  Table Rows({"time", "thread", "pc", "place"});
  for (const json::Value &Result : Results) {
    const json::Object &X = *Result.getAsObject();
    Rows.add({std::to_string(X.getInteger("time").value_or(0)),
              std::to_string(X.getInteger("thread").value_or(0)),
              X.getString("pc").value_or("").str(), placeOf(X.get("symbol"))});
  }
  Call.print(Rows.empty() ? "It does not run.\n" : Rows.text());
  Call.printEnd(*End);
  return Error::success();
}

ArrayRef<CommandSpec> executionCommands() {
  static const OptionSpec Inside = {
      "inside", 0, nullptr,
      "Any instruction of the function, not only its first."};
  static const OptionSpec OneOptions[] = {Inside, ThreadOption, NoJumpOption,
                                          JsonOption};
  static const OptionSpec AllOptions[] = {
      Inside,      FromOption,        ToOption,  ThreadOption,
      LimitOption, OldestFirstOption, JsonOption};
  static const char *const Details =
      "The location is a function (its first instruction), file:line (the "
      "start of the line's code) or an address; without one, the present "
      "instruction.\n";
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

} // namespace chronicle
