// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// status, which `chronicle` alone runs, and prompt.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/commands/NextSteps.h"
#include "lldb-plugin/target/Prompt.h"
#include "query/answers/RunEnd.h"
#include "query/json/JsonAnswers.h"

using namespace llvm;

namespace chronicle::commands {

/// "99.8%", rounded down, so that 100% is the end.
static std::string percentText(Timestamp Time, Timestamp End) {
  const uint64_t Tenths = End ? uint64_t(__uint128_t(Time) * 1000 / End) : 1000;
  return Tenths % 10 ? formatv("{0}.{1}%", Tenths / 10, Tenths % 10).str()
                     : formatv("{0}%", Tenths / 10).str();
}

static void printSteps(CommandCall &Call, ArrayRef<NextStep> Steps) {
  size_t Width = 0;
  for (const NextStep &Each : Steps)
    Width = std::max(Width, Each.Command.size());
  Call.print("Next, for example:\n");
  for (const NextStep &Each : Steps)
    Call.print("  " + Each.Command +
               std::string(Width + 2 - Each.Command.size(), ' ') +
               Each.Purpose + "\n");
}

/// Where the selected thread is, as LLDB shows a stop.
static void printPosition(CommandCall &Call,
                          const target::LoadedTrace &Loaded) {
  const query::Trace &T = Loaded.trace();
  const session::Position Here = Loaded.position();
  const target::Style How = Call.style();
  std::string End;
  if (Here.Time == T.instructions())
    End = ", the end of the run: the program " +
          answers::RunEnd::of(T.reader().end()).text();
  else if (Here.Time == 0)
    End = ", the start of the run";
  Call.print(formatv("time {0} of {1} ({2}), thread {3}{4}\n",
                     How.time(Here.Time), How.time(T.instructions()),
                     percentText(Here.Time, T.instructions()), Here.Thread, End)
                 .str());
  lldb::SBStream Stop;
  if (Loaded.process().GetSelectedThread().GetStatus(Stop) && Stop.GetData())
    Call.print(Stop.GetData());
}

static Error status(CommandCall &Call) {
  std::shared_ptr<target::LoadedTrace> Loaded =
      target::LoadedTrace::of(Call.debugger());
  if (Call.json()) {
    json::Object Answer{{"loaded", Loaded != nullptr}};
    if (Loaded)
      Answer["now"] = jsonPosition(*Loaded);
    json::Array List;
    for (const NextStep &Each : nextSteps(Loaded.get()))
      List.push_back(
          json::Object{{"command", jsonapi::jsonText(Each.Command)},
                       {"purpose", jsonapi::jsonText(Each.Purpose)}});
    Answer["next"] = std::move(List);
    Call.printJson(std::move(Answer));
    return Error::success();
  }
  if (!Loaded)
    Call.print("No trace is loaded here.\n");
  else
    printPosition(Call, *Loaded);
  printSteps(Call, nextSteps(Loaded.get()));
  return Error::success();
}

static Error prompt(CommandCall &Call) {
  StringRef Word = Call.words().empty() ? "" : Call.words()[0];
  if (Word != "on" && Word != "off")
    return createStringError(
        formatv("invalid argument '{0}': expected on or off", Word));
  target::showTimeInPrompt(Call.debugger(), Word == "on");
  return Error::success();
}

ArrayRef<CommandSpec> statusCommands() {
  static const OptionSpec Options[] = {JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "status",
       .RunWithoutTrace = status,
       .Help = "Show where we are and what can be done next; the same as "
               "'chronicle' alone.",
       .Details = "Shows the time, the share of the run before it, the thread, "
                  "the place, and commands that are of use at such a moment.\n",
       .Examples = "  chronicle\n"
                   "  chronicle status --json\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "prompt",
       .RunWithoutTrace = prompt,
       .Help = "Show the time in LLDB's prompt, or no longer.",
       .Arguments = "on | off",
       .Details = "The prompt is then (lldb 1,234,567). Every stop updates it. "
                  "'off' brings back the prompt from before.\n",
       .Examples = "  chronicle prompt on\n"
                   "  chronicle prompt off\n",
       .MostWords = 1},
  };
  return Table;
}

} // namespace chronicle::commands
