// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why a program could not be recorded, with the exit status that env(1) would
/// have.

#ifndef CHRONICLE_RECORDER_LAUNCH_LAUNCHERROR_H
#define CHRONICLE_RECORDER_LAUNCH_LAUNCHERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>

namespace chronicle::launch {

enum LaunchStatus {
  StatusTimedOut = 124,   ///< the time limit ended the program
  StatusOurFailure = 125, ///< Chronicle failed, not the program
  StatusCannotRun = 126,  ///< the program exists but cannot be run or recorded
  StatusNotFound = 127,   ///< the program was not found
};

class LaunchError : public llvm::ErrorInfo<LaunchError> {
public:
  static char ID;

  LaunchError(LaunchStatus Status, const llvm::Twine &Text)
      : Status(Status), Text(Text.str()) {}

  LaunchStatus status() const { return Status; }
  void log(llvm::raw_ostream &Out) const override;
  std::error_code convertToErrorCode() const override;

private:
  LaunchStatus Status;
  std::string Text;
};

inline llvm::Error launchError(LaunchStatus Status, const llvm::Twine &Text) {
  return llvm::make_error<LaunchError>(Status, Text);
}

/// Appends what errno means: "Text: No such file or directory".
llvm::Error launchErrorFromErrno(LaunchStatus Status, const llvm::Twine &Text);

/// The exit status and the text of an error, which need not be a LaunchError.
std::pair<LaunchStatus, std::string> describe(llvm::Error E);

} // namespace chronicle::launch

#endif
