// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the program to record, and checks that it can be recorded before
/// anything is started or written.

#ifndef CHRONICLE_RECORDER_LAUNCH_PROGRAMFILE_H
#define CHRONICLE_RECORDER_LAUNCH_PROGRAMFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace chronicle::launch {

struct ProgramFile {
  std::string Typed; ///< as the user typed it; the program's argv[0]
  std::string Path;  ///< absolute; symbolic links are kept
  /// For a script, the absolute path of the program that runs it; else empty.
  std::string Interpreter;
  /// Valgrind would not find the program by Typed, so it must be given Path.
  bool NeedsPath = false;
};

/// Looks Typed up in SearchPath (the value of PATH, if it is set) as execvp
/// does. The error is a LaunchError that says in one sentence what is wrong:
/// the program was not found (127); or it is a directory, not executable, not
/// for x86-64 Linux, set-uid, has capabilities, or is a script with such an
/// interpreter (126).
llvm::Expected<ProgramFile>
findProgramFile(llvm::StringRef Typed,
                std::optional<llvm::StringRef> SearchPath);

/// The same with the PATH of this process.
llvm::Expected<ProgramFile> findProgramInPath(llvm::StringRef Typed);

} // namespace chronicle::launch

#endif
