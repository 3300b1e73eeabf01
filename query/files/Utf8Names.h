// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names for files whose paths are not UTF-8.

#ifndef CHRONICLE_QUERY_FILES_UTF8NAMES_H
#define CHRONICLE_QUERY_FILES_UTF8NAMES_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>

namespace chronicle::files {

/// The protocol lists libraries as XML, which cannot hold a path that is not
/// UTF-8. The debugger gets a symbolic link to such a file instead: its name is
/// the file's as shownText() shows it, in a temporary directory. The links live
/// as long as this object.
class Utf8Names {
public:
  Utf8Names() = default;
  ~Utf8Names();
  Utf8Names(const Utf8Names &) = delete;
  Utf8Names &operator=(const Utf8Names &) = delete;

  /// A path in UTF-8 of the same file. If no link can be made, the path as it
  /// is shown, which names no file.
  std::string of(llvm::StringRef Path);

private:
  llvm::SmallString<64> Directory; ///< empty until it is needed
  std::map<std::string, std::string, std::less<>> Links;
};

} // namespace chronicle::files

#endif
