// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a recorded program died.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_CRASHPLACE_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_CRASHPLACE_H

#include "query/answers/RunEnd.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::recording {

/// The place of the program's own code where a signal ended it, as text:
/// "parse at parse.c:12". Empty if the program did not crash, or if the
/// place has no name. Opens the trace and the debug info of one module.
std::string crashPlace(llvm::StringRef TracePath, const answers::RunEnd &End);

} // namespace chronicle::recording

#endif
