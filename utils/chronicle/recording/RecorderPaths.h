// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the parts of Chronicle that a recording starts.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_RECORDERPATHS_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_RECORDERPATHS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::recording {

struct RecorderPaths {
  std::string Tool;     ///< the Valgrind tool
  std::string Launcher; ///< this program
};

/// Tool is used instead of the one beside this program, if it is not empty.
/// Fails if something that the recorder needs is missing.
llvm::Expected<RecorderPaths> findRecorder(llvm::StringRef Tool);

} // namespace chronicle::recording

#endif
