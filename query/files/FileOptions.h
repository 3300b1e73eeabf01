// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the user says about the files of a recorded program.

#ifndef CHRONICLE_QUERY_FILES_FILEOPTIONS_H
#define CHRONICLE_QUERY_FILES_FILEOPTIONS_H

#include <string>
#include <vector>

namespace chronicle::files {

struct FileOptions {
  /// Where separate debug files are: <directory>/.build-id/xx/yyyy.debug, and
  /// those that .gnu_debuglink names.
  std::vector<std::string> DebugDirectories = {"/usr/lib/debug"};
  /// Uses a file although it is not the one that was recorded: names and lines
  /// may be wrong.
  bool AnyBuild = false;
  /// A copy of the recording machine's files, below which paths are looked for
  /// first; empty: none.
  std::string Sysroot;
};

} // namespace chronicle::files

#endif
