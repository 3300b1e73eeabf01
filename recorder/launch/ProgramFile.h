// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the program to record and makes sure, before anything is started or
/// written, that it can be.

#ifndef CHRONICLE_RECORDER_LAUNCH_PROGRAMFILE_H
#define CHRONICLE_RECORDER_LAUNCH_PROGRAMFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace chronicle {

struct ProgramFile {
  std::string Typed; ///< as the user wrote it: the program's argv[0]
  std::string Path;  ///< absolute; symbolic links are kept
  /// Of a script: the program that runs it, absolute. Else empty.
  std::string Interpreter;
  /// PATH was not used as Valgrind uses it, so Path has to be given to it.
  bool NeedsPath = false;
};

/// Looks Typed up as execvp does in SearchPath (PATH, if it is set). The error
/// is a LaunchError that says in one sentence what is wrong: not found (127); a
/// directory, not executable, not x86-64 Linux, set-uid, with capabilities, a
/// script whose interpreter is any of these (126).
llvm::Expected<ProgramFile>
findProgramFile(llvm::StringRef Typed,
                std::optional<llvm::StringRef> SearchPath);

} // namespace chronicle

#endif
