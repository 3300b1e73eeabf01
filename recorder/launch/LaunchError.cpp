// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/LaunchError.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::launch {

char LaunchError::ID;

void LaunchError::log(raw_ostream &Out) const { Out << Text; }

std::error_code LaunchError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error launchErrorFromErrno(LaunchStatus Status, const Twine &Text) {
  std::string Reason = sys::StrError();
  return launchError(Status, Text + ": " + Reason);
}

std::pair<LaunchStatus, std::string> describe(Error E) {
  std::pair<LaunchStatus, std::string> Result(StatusOurFailure, "");
  handleAllErrors(
      std::move(E),
      [&](const LaunchError &Failure) {
        Result = {Failure.status(), Failure.message()};
      },
      [&](const ErrorInfoBase &Failure) { Result.second = Failure.message(); });
  return Result;
}

} // namespace chronicle::launch
