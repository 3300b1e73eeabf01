// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Moments that the user named, kept in a file next to the trace.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_BOOKMARKLIST_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_BOOKMARKLIST_H

#include "query/Trace.h"
#include "llvm/Support/JSON.h"

namespace chronicle::target {

struct Bookmark {
  std::string Name;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  std::string Note;
};

llvm::json::Object toJSON(const Bookmark &Mark);

/// The bookmarks of a trace, in trace.db.bookmarks:
///
///     {"bookmarks":[{"name":"bug","note":"","thread":1,"time":1234}]}
///
/// The file is read on every use, because other debuggers may add bookmarks. It
/// is replaced by renaming a new one, so that it is never half written.
class BookmarkList {
public:
  /// The bookmarks of a trace; none if it has no file of them yet.
  static llvm::Expected<BookmarkList> of(const query::Trace &T);

  /// Null: no bookmark has that name.
  const Bookmark *find(llvm::StringRef Name) const;
  /// In order of time.
  llvm::ArrayRef<Bookmark> all() const { return Marks; }
  /// A name that is not taken.
  std::string freeName() const;

  /// Replaces a bookmark of the same name. Fails for a name that `goto` takes
  /// for something else.
  llvm::Error add(Bookmark Mark);
  /// False: no bookmark has that name.
  bool remove(llvm::StringRef Name);
  llvm::Error save() const;

private:
  std::string Path;
  std::vector<Bookmark> Marks;
};

} // namespace chronicle::target

#endif
