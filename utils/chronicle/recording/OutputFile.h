// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The file that `chronicle record` writes the trace to.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_OUTPUTFILE_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_OUTPUTFILE_H

#include "recorder/launch/ProgramFile.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::recording {

/// Where a trace goes, and whether it may replace a file there.
struct OutputFile {
  std::string Path;
  bool Replace = false;

  /// Refuses a file that would destroy something.
  llvm::Error check(const launch::ProgramFile &Program) const;

  /// Creates an empty file in Directory, which is made if it does not exist,
  /// for a trace of the program: program-PID.db, or program-PID-2.db if that is
  /// taken. Several processes may do this at once, also on different machines.
  static llvm::Expected<OutputFile> inDirectory(llvm::StringRef Directory,
                                                llvm::StringRef Program);
};

} // namespace chronicle::recording

#endif
