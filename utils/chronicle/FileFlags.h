// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The options by which several commands are told where the files of a recorded
/// program are, and which process of a run they are about.

#ifndef CHRONICLE_UTILS_CHRONICLE_FILEFLAGS_H
#define CHRONICLE_UTILS_CHRONICLE_FILEFLAGS_H

#include "query/files/FileOptions.h"
#include "query/processes/RunDirectory.h"
#include "utils/chronicle/Subcommand.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

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

/// A static object per command that has it.
struct ProcessFlag {
  explicit ProcessFlag(Command &C)
      : C(C),
        Process("process", llvm::cl::sub(C), llvm::cl::value_desc("WHICH"),
                llvm::cl::desc("Of a run of several processes, take the "
                               "one with this pid, name or '#N' "
                               "(default: the one that crashed or "
                               "failed)")) {}

  /// Makes Path the file of the trace. Says on standard error which one it is
  /// if the user did not choose.
  llvm::Error choose(std::string &Path) const {
    llvm::Expected<processes::ChosenTrace> Chosen =
        processes::chooseTrace(Path, Process);
    if (!Chosen)
      return Chosen.takeError();
    if (!Chosen->Note.empty())
      llvm::errs() << "chronicle " << C.info().Name << ": " << Chosen->Note
                   << '\n';
    Path = std::move(Chosen->Path);
    return llvm::Error::success();
  }

  Command &C;
  llvm::cl::opt<std::string> Process;
};

} // namespace chronicle::cli

#endif
