// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// bookmark, bookmarks.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/BookmarkList.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

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
