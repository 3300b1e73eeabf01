// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// info, now, goto.

#include "lldb-plugin/Command.h"
#include "lldb-plugin/Describe.h"

using namespace llvm;

namespace chronicle {

static Error info(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  const TraceReader &Reader = (*L)->trace().reader();
  if (Call.json()) {
    Expected<json::Value> Answer = Call.ask((*L)->trace(), "info", {});
    if (!Answer)
      return Answer.takeError();
    (*Answer->getAsObject())["now"] = jsonPosition(**L);
    Call.printJson(std::move(*Answer));
    return Error::success();
  }
  std::string Program;
  if (const json::Array *List = Reader.run().getArray("arguments"))
    for (const json::Value &Word : *List)
      Program +=
          (Program.empty() ? "" : " ") + Word.getAsString().value_or("").str();
  Call.print(formatv("trace:        {0}\n"
                     "program:      {1}\n"
                     "command:      {2}\n"
                     "end:          {3}\n"
                     "instructions: {4}\n"
                     "now:          {5}, thread {6}\n",
                     Reader.path(),
                     Reader.run().getString("program").value_or(""), Program,
                     endText(Reader), Reader.instructions(),
                     (*L)->position().Time, (*L)->position().Thread)
                 .str());
  return Error::success();
}

static Error now(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  if (Call.json()) {
    Call.printJson(jsonPosition(**L));
    return Error::success();
  }
  const Trace &T = (*L)->trace();
  Position Here = (*L)->position();
  Expected<Registers> R = T.registers(Here.Thread, Here.Time);
  if (!R)
    return R.takeError();
  std::string Place = placeOf(T, R->rip(), Here.Time);
  Call.print(formatv("time {0} of {1}, thread {2}, pc {3:x}{4}{5}\n", Here.Time,
                     T.instructions(), Here.Thread, R->rip(),
                     Place.empty() ? "" : " in ", Place)
                 .str());
  return Error::success();
}

static Error goTo(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  if (Call.words().empty())
    return createStringError("where to? give a timestamp, start, end, crash, "
                             "+n or -n instructions from now, or a bookmark");
  Expected<Position> There =
      parseMoment((*L)->trace(), Call.words()[0], (*L)->position().Time);
  if (!There)
    return There.takeError();
  Call.jump(**L, There->Time, There->Thread,
            formatv("at time {0}", There->Time));
  return Error::success();
}

ArrayRef<CommandSpec> momentCommands() {
  static const OptionSpec Options[] = {JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "info",
       .Run = info,
       .Help = "Show what was recorded and where in it we are.",
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
       .Help = "Go to a moment: a timestamp, start, end, crash, +n or -n "
               "instructions from now, or a bookmark.",
       .Arguments = "<moment>",
       .Details = "A timestamp is the number of instructions run before that "
                  "moment; every table of a chronicle command has some.\n",
       .Examples = "  chronicle goto 123456\n"
                   "  chronicle goto -1000\n"
                   "  chronicle goto crash\n",
       .Options = Options,
       .Words = Completes::Moment,
       .MostWords = 1},
  };
  return Table;
}

} // namespace chronicle
