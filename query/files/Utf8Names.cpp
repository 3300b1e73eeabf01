// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/files/Utf8Names.h"
#include "trace-format/Text.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::files {

Utf8Names::~Utf8Names() {
  if (!Directory.empty())
    (void)sys::fs::remove_directories(Directory);
}

std::string Utf8Names::of(StringRef Path) {
  if (json::isUTF8(Path))
    return Path.str();
  auto Known = Links.find(Path);
  if (Known != Links.end())
    return Known->second;
  std::string Shown = shownText(Path);
  if (Directory.empty() &&
      sys::fs::createUniqueDirectory("chronicle-names", Directory))
    return Shown;
  // Two files may look the same, so each has a directory of its own.
  SmallString<128> Link(Directory);
  sys::path::append(Link, Twine(Links.size()));
  if (sys::fs::create_directory(Link))
    return Shown;
  sys::path::append(Link, sys::path::filename(Shown));
  if (sys::fs::create_link(Path, Link))
    return Shown;
  return Links[Path.str()] = std::string(Link);
}

} // namespace chronicle::files
