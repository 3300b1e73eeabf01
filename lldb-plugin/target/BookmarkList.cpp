// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/BookmarkList.h"
#include "query/json/JsonAnswers.h"
#include "trace-format/PrivateFile.h"
#include "trace-format/UntrustedJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace chronicle::target {

json::Object toJSON(const Bookmark &Mark) {
  return json::Object{{"name", jsonapi::jsonText(Mark.Name)},
                      {"time", Mark.Time},
                      {"thread", Mark.Thread},
                      {"note", jsonapi::jsonText(Mark.Note)}};
}

Expected<BookmarkList> BookmarkList::of(const query::Trace &T) {
  BookmarkList Result;
  Result.Path = T.reader().path().str() + ".bookmarks";
  if (!sys::fs::exists(Result.Path))
    return Result;
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getFile(Result.Path);
  if (!Buffer)
    return createStringError("cannot read " + Result.Path + ": " +
                             Buffer.getError().message());
  Expected<json::Value> Parsed = parseUntrustedJson((*Buffer)->getBuffer());
  const json::Object *Top = nullptr;
  if (Parsed)
    Top = Parsed->getAsObject();
  else
    consumeError(Parsed.takeError()); // the message below is enough
  const json::Array *List = Top ? Top->getArray("bookmarks") : nullptr;
  bool Good = List != nullptr;
  for (const json::Value &Item : List ? *List : json::Array()) {
    const json::Object *O = Item.getAsObject();
    std::optional<StringRef> Name = O ? O->getString("name") : std::nullopt;
    std::optional<int64_t> Time = O ? O->getInteger("time") : std::nullopt;
    if (!Name || !Time || *Time < 0 || uint64_t(*Time) > T.instructions()) {
      Good = false;
      continue;
    }
    Result.Marks.push_back({Name->str(), Timestamp(*Time),
                            uint32_t(O->getInteger("thread").value_or(0)),
                            O->getString("note").value_or("").str()});
  }
  if (!Good)
    return createStringError(Result.Path + " has no valid bookmarks of this "
                                           "trace: remove it to start again");
  return Result;
}

const Bookmark *BookmarkList::find(StringRef Name) const {
  auto It = find_if(Marks, [&](const Bookmark &M) { return Name == M.Name; });
  return It == Marks.end() ? nullptr : &*It;
}

std::string BookmarkList::freeName() const {
  for (size_t N = Marks.size() + 1;; ++N) {
    std::string Name = "mark" + std::to_string(N);
    if (!find(Name))
      return Name;
  }
}

Error BookmarkList::add(Bookmark Mark) {
  StringRef Name = Mark.Name;
  if (Name.empty() || isDigit(Name[0]) || Name[0] == '+' || Name[0] == '-' ||
      is_contained({"start", "end", "crash"}, Name))
    return createStringError(formatv(
        "invalid bookmark name '{0}': expected a name that starts with a "
        "letter and is not start, end or crash",
        Name));
  remove(Name);
  Marks.insert(upper_bound(Marks, Mark,
                           [](const Bookmark &A, const Bookmark &B) {
                             return A.Time < B.Time;
                           }),
               std::move(Mark));
  return Error::success();
}

bool BookmarkList::remove(StringRef Name) {
  size_t Before = Marks.size();
  erase_if(Marks, [&](const Bookmark &M) { return Name == M.Name; });
  return Marks.size() < Before;
}

Error BookmarkList::save() const {
  json::Array List;
  for (const Bookmark &Mark : Marks)
    List.push_back(toJSON(Mark));
  return replaceFile(Path, PrivateMode, [&](raw_ostream &Out) {
    Out << formatv("{0:2}\n",
                   json::Value(json::Object{{"bookmarks", std::move(List)}}));
  });
}

} // namespace chronicle::target
