// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The command line of the recorder: the Valgrind tool, executed directly.

#ifndef CHRONICLE_RECORDER_LAUNCH_RECORDERCOMMAND_H
#define CHRONICLE_RECORDER_LAUNCH_RECORDERCOMMAND_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace chronicle {

/// What to execute. Tool and Launcher are absolute paths.
struct RecorderCommand {
  std::string Tool;
  std::string Launcher; ///< our own executable; Valgrind's core asks for it
  std::string LogLoads; ///< auto, always or never
  int RingDescriptor = -1;
  int LogDescriptor = -1;
  std::vector<std::string> Program; ///< the program's command line

  std::vector<std::string> commandLine() const;
  /// This process's environment with what the core needs; the tool hides it
  /// from the program.
  std::vector<std::string> environment() const;
};

/// Where the tool is for the chronicle program at this path, both in a build
/// tree and under an installation prefix.
std::string recorderPath(llvm::StringRef Executable);

} // namespace chronicle

#endif
