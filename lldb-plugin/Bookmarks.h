// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Moments that people gave names to, kept beside the trace.

#ifndef CHRONICLE_LLDB_PLUGIN_BOOKMARKS_H
#define CHRONICLE_LLDB_PLUGIN_BOOKMARKS_H

#include "query/Trace.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

struct Bookmark {
  std::string Name;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  std::string Note;
};

llvm::json::Object jsonBookmark(const Bookmark &Mark);

/// The bookmarks of a trace, in trace.db.bookmarks:
///
///     {"bookmarks":[{"name":"bug","note":"","thread":1,"time":1234}]}
///
/// Read whenever it is asked for, since other debuggers may add some; written
/// to another file that then takes its place.
class BookmarkList {
public:
  /// Those of a trace; empty if it has no file of them yet.
  static llvm::Expected<BookmarkList> of(const Trace &T);

  /// By name; null: none.
  const Bookmark *find(llvm::StringRef Name) const;
  /// In the order of their time.
  llvm::ArrayRef<Bookmark> all() const { return Marks; }
  /// A name that is not taken.
  std::string freeName() const;

  /// Replaces one of the same name. Not a name that `goto` takes for something
  /// else.
  llvm::Error add(Bookmark Mark);
  /// False: there is none of that name.
  bool remove(llvm::StringRef Name);
  llvm::Error save() const;

private:
  std::string Path;
  std::vector<Bookmark> Marks;
};

} // namespace chronicle

#endif
