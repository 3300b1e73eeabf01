// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// info, now, goto.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "query/answers/RunEnd.h"
#include "query/json/JsonAnswers.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

static Error info(CommandCall &Call, target::LoadedTrace &Loaded) {
  const file::TraceReader &Reader = Loaded.trace().reader();
  if (Call.json()) {
    json::Object Answer = jsonapi::toJSON(Loaded.trace());
    Answer["now"] = jsonPosition(Loaded);
    Call.printJson(std::move(Answer));
    return Error::success();
  }
  std::string Program;
  if (const json::Array *List = Reader.run().getArray("arguments"))
    for (const json::Value &Word : *List)
      Program +=
          (Program.empty() ? "" : " ") + Word.getAsString().value_or("").str();
  Call.print(
      formatv("trace:        {0}\n"
              "program:      {1}\n"
              "command:      {2}\n"
              "end:          {3}\n"
              "instructions: {4}\n"
              "now:          {5}, thread {6}\n",
              Reader.path(), Reader.run().getString("program").value_or(""),
              Program, answers::RunEnd::of(Reader.end()).text(),
              groupedDigits(Reader.instructions()),
              groupedDigits(Loaded.position().Time), Loaded.position().Thread)
          .str());
  return Error::success();
}

static Error now(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.json()) {
    Call.printJson(jsonPosition(Loaded));
    return Error::success();
  }
  const query::Trace &T = Loaded.trace();
  session::Position Here = Loaded.position();
  Expected<answers::Registers> R = T.registers(Here.Thread, Here.Time);
  if (!R)
    return R.takeError();
  const target::Style How = Call.style();
  const questions::Place Where = questions::placeAt(T, R->rip(), Here.Time);
  std::string Place = target::placeOf(Where, How);
  // Code without a name has only its line or its file.
  const bool IsNamed =
      Where.Symbol && !Where.Symbol->Frames.front().Function.empty();
  Call.print(formatv("time {0} of {1}, thread {2}, pc {3:x}{4}{5}\n",
                     How.time(Here.Time), How.time(T.instructions()),
                     Here.Thread, R->rip(),
                     IsNamed         ? " in "
                     : Place.empty() ? ""
                                     : " ",
                     How.place(Place))
                 .str());
  return Error::success();
}

static Error goTo(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.words().empty())
    return createStringError(
        "missing argument: give a timestamp (1,234,567), a percentage of the "
        "run (99.8%), start, end, crash, +n or -n instructions from now, or a "
        "bookmark");
  Expected<session::Position> There = target::parseMoment(
      Loaded.trace(), Call.words()[0], Loaded.position().Time);
  if (!There)
    return There.takeError();
  Call.jump(Loaded, *There,
            {.Kind = session::StopKind::Goto, .Time = There->Time});
  return Error::success();
}

ArrayRef<CommandSpec> momentCommands() {
  static const OptionSpec Options[] = {JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "info",
       .Run = info,
       .Help = "Show what was recorded and the present moment.",
       .Examples = "  chronicle info\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "now",
       .Run = now,
       .Help = "Show the time, the thread and the place.",
       .Examples = "  chronicle now\n"
                   "  chronicle now --json\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "goto",
       .Run = goTo,
       .Help = "Go to a moment of the run.",
       .Arguments = "<moment>",
       .Details = "A moment is a timestamp (1,234,567), a percentage of the "
                  "run (99.8%), start, end, crash, +n or -n instructions from "
                  "now, or a bookmark. A timestamp is the number of "
                  "instructions run before that moment. The tables of the "
                  "chronicle commands list them.\n",
       .Examples = "  chronicle goto 1,234,567\n"
                   "  chronicle goto 99.8%\n"
                   "  chronicle goto -1000\n"
                   "  chronicle goto crash\n",
       .Options = Options,
       .Words = Completes::Moment,
       .MostWords = 1},
  };
  return Table;
}

} // namespace chronicle::commands
