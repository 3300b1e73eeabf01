// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The options by which several commands are told where the files of a recorded
/// program are.

#ifndef CHRONICLE_UTILS_CHRONICLE_FILEFLAGS_H
#define CHRONICLE_UTILS_CHRONICLE_FILEFLAGS_H

#include "query/files/FileOptions.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/Support/FileSystem.h"

namespace chronicle::cli {

/// A static object per command that has them.
struct FileFlags {
  explicit FileFlags(Command &C)
      : Sysroot("sysroot", llvm::cl::sub(C), llvm::cl::value_desc("DIR"),
                llvm::cl::desc("Look for programs and libraries below DIR "
                               "first")),
        DebugDirectories("debug-directory", llvm::cl::sub(C),
                         llvm::cl::value_desc("DIR"),
                         llvm::cl::desc("Search DIR for debug files, before "
                                        "/usr/lib/debug; may be repeated")) {}

  /// The error in the options, or an empty string.
  std::string wrong() const {
    if (Sysroot.getNumOccurrences() && !llvm::sys::fs::is_directory(Sysroot))
      return "invalid --sysroot: '" + Sysroot + "' is not a directory";
    return "";
  }
  files::FileOptions options() const {
    files::FileOptions Result;
    Result.Sysroot = llvm::StringRef(Sysroot).rtrim('/').str();
    Result.DebugDirectories.insert(Result.DebugDirectories.begin(),
                                   DebugDirectories.begin(),
                                   DebugDirectories.end());
    return Result;
  }

  llvm::cl::opt<std::string> Sysroot;
  llvm::cl::list<std::string> DebugDirectories;
};

} // namespace chronicle::cli

#endif
