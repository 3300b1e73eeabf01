// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Answers as text, for the tables that commands print.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_DESCRIBE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_DESCRIBE_H

#include "query/questions/Place.h"
#include "query/questions/SystemCallQuestions.h"

namespace chronicle::target {

/// "function at file:line", as far as it is known; empty if nothing is.
std::string placeOf(const questions::Place &Place);
/// "at file:line", or "in module".
std::string sourceOf(const questions::Place &Place);

/// "read(0x3, 0x1000, 0x40) = 12".
std::string systemCallText(const questions::SystemCall &Call);

/// Bytes of an unknown type: as a number if they are few.
std::string valueText(llvm::ArrayRef<uint8_t> Bytes);

} // namespace chronicle::target

#endif
