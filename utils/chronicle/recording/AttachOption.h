// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The option of `chronicle record` that people look for and that cannot be.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_ATTACHOPTION_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_ATTACHOPTION_H

#include "llvm/Support/CommandLine.h"
#include <string>

namespace chronicle::recording {

class AttachOption {
public:
  explicit AttachOption(llvm::cl::SubCommand &Record);
  /// Why it cannot be done and what can, or an empty string if nobody asked.
  std::string refusal() const;

private:
  llvm::cl::opt<std::string> Process;
};

} // namespace chronicle::recording

#endif
