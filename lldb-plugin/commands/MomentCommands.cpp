// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// info, now, goto; bookmark, bookmarks.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/BookmarkList.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
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

// ---- bookmarks ----

static Error bookmark(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<target::BookmarkList> Marks =
      target::BookmarkList::of(Loaded.trace());
  if (!Marks)
    return Marks.takeError();
  if (Call.has("delete")) {
    std::string Name = shownText(Call.value("delete"));
    if (!Call.words().empty())
      return createStringError("--delete takes one name and no other argument");
    if (!Marks->remove(Name))
      return createStringError("there is no bookmark '" + Name +
                               "'; 'chronicle bookmarks' lists them");
    if (Error E = Marks->save())
      return E;
    if (Call.json())
      Call.printJson(json::Object{{"deleted", Name}});
    else
      Call.print("Deleted " + Name + ".\n");
    return Error::success();
  }
  session::Position Here = Loaded.position();
  target::Bookmark Mark;
  Mark.Name =
      Call.words().empty() ? Marks->freeName() : shownText(Call.words()[0]);
  Mark.Time = Here.Time;
  Mark.Thread = Call.selectedThread(Loaded);
  if (Call.words().size() > 1)
    Mark.Note = shownText(join(Call.words().drop_front(), " "));
  target::Bookmark Shown = Mark;
  if (Error E = Marks->add(std::move(Mark)))
    return E;
  if (Error E = Marks->save())
    return E;
  if (Call.json())
    Call.printJson(target::toJSON(Shown));
  else
    Call.print(formatv("{0} is time {1}: 'chronicle goto {0}' comes back.\n",
                       Shown.Name, groupedDigits(Shown.Time))
                   .str());
  return Error::success();
}

static Error bookmarks(CommandCall &Call, target::LoadedTrace &Loaded) {
  const query::Trace &T = Loaded.trace();
  Expected<target::BookmarkList> Marks = target::BookmarkList::of(T);
  if (!Marks)
    return Marks.takeError();
  if (Call.json()) {
    json::Array List;
    for (const target::Bookmark &Mark : Marks->all())
      List.push_back(target::toJSON(Mark));
    Call.printJson(json::Object{{"bookmarks", std::move(List)}});
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows({"",
                      "name",
                      {"time", target::Table::Role::Time},
                      "thread",
                      {"place", target::Table::Role::Place},
                      "note"});
  for (const target::Bookmark &Mark : Marks->all()) {
    Expected<answers::Registers> R = T.registers(Mark.Thread, Mark.Time);
    if (!R)
      return R.takeError();
    Rows.add({Mark.Time == Loaded.position().Time ? "*" : "", Mark.Name,
              groupedDigits(Mark.Time), std::to_string(Mark.Thread),
              target::placeOf(questions::placeAt(T, R->rip(), Mark.Time), How),
              Mark.Note});
  }
  Call.print(Rows, "No bookmarks: 'chronicle bookmark <name>' makes one of "
                   "this moment.");
  return Error::success();
}

ArrayRef<CommandSpec> bookmarkCommands() {
  static const OptionSpec Options[] = {
      {"delete", 'd', "name", "Delete this bookmark.", Completes::Moment},
      JsonOption};
  static const OptionSpec ListOptions[] = {FullOption, JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "bookmark",
       .Run = bookmark,
       .Help = "Give this moment a name that 'chronicle goto' takes.",
       .Arguments = "[<name> [<note>]]",
       .Details = "Kept next to the trace, in trace.db.bookmarks. Without a "
                  "name it gets one. The same name again moves it.\n",
       .Examples = "  chronicle bookmark bug the total is wrong from here on\n"
                   "  chronicle goto bug\n"
                   "  chronicle bookmark --delete bug\n",
       .Options = Options},
      {.Name = "bookmarks",
       .Run = bookmarks,
       .Help = "List the bookmarks of this trace.",
       .Examples = "  chronicle bookmarks\n",
       .Options = ListOptions,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::commands
