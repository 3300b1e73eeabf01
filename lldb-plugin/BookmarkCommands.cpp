// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// bookmark, bookmarks.

#include "lldb-plugin/Bookmarks.h"
#include "lldb-plugin/Command.h"
#include "lldb-plugin/Describe.h"

using namespace llvm;

namespace chronicle {

static Error bookmark(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<BookmarkList> Marks = BookmarkList::of((*L)->trace());
  if (!Marks)
    return Marks.takeError();
  if (Call.has("delete")) {
    StringRef Name = Call.value("delete");
    if (!Call.words().empty())
      return createStringError("--delete takes one name and nothing else");
    if (!Marks->remove(Name))
      return createStringError("there is no bookmark '" + Name.str() +
                               "'; 'chronicle bookmarks' lists them");
    if (Error E = Marks->save())
      return E;
    if (Call.json())
      Call.printJson(json::Object{{"deleted", Name.str()}});
    else
      Call.print("Deleted " + Name + ".\n");
    return Error::success();
  }
  Position Here = (*L)->position();
  Bookmark Mark;
  Mark.Name = Call.words().empty() ? Marks->freeName() : Call.words()[0].str();
  Mark.Time = Here.Time;
  Mark.Thread = Call.selectedThread(**L);
  if (Call.words().size() > 1)
    Mark.Note = join(Call.words().drop_front(), " ");
  Bookmark Shown = Mark;
  if (Error E = Marks->add(std::move(Mark)))
    return E;
  if (Error E = Marks->save())
    return E;
  if (Call.json())
    Call.printJson(jsonBookmark(Shown));
  else
    Call.print(formatv("{0} is time {1}: 'chronicle goto {0}' comes back.\n",
                       Shown.Name, Shown.Time)
                   .str());
  return Error::success();
}

static Error bookmarks(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  const Trace &T = (*L)->trace();
  Expected<BookmarkList> Marks = BookmarkList::of(T);
  if (!Marks)
    return Marks.takeError();
  if (Call.json()) {
    json::Array List;
    for (const Bookmark &Mark : Marks->all())
      List.push_back(jsonBookmark(Mark));
    Call.printJson(json::Object{{"bookmarks", std::move(List)}});
    return Error::success();
  }
  Table Rows({"", "name", "time", "thread", "place", "note"});
  for (const Bookmark &Mark : Marks->all()) {
    Expected<Registers> R = T.registers(Mark.Thread, Mark.Time);
    if (!R)
      return R.takeError();
    Rows.add({Mark.Time == (*L)->position().Time ? "*" : "", Mark.Name,
              std::to_string(Mark.Time), std::to_string(Mark.Thread),
              placeOf(T, R->rip(), Mark.Time), Mark.Note});
  }
  Call.print(Rows.empty() ? "No bookmarks: 'chronicle bookmark <name>' makes "
                            "one of this moment.\n"
                          : Rows.text());
  return Error::success();
}

ArrayRef<CommandSpec> bookmarkCommands() {
  static const OptionSpec Options[] = {
      {"delete", 'd', "name", "Delete that one instead.", Completes::Moment},
      JsonOption};
  static const OptionSpec ListOptions[] = {JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "bookmark",
       .Run = bookmark,
       .Help = "Give this moment a name that 'chronicle goto' takes.",
       .Arguments = "[<name> [<note>]]",
       .Details = "Kept beside the trace, in trace.db.bookmarks. Without a "
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

} // namespace chronicle
