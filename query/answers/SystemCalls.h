// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names of the kernel's numbers: system calls, errors, signals.

#ifndef CHRONICLE_QUERY_ANSWERS_SYSTEMCALLS_H
#define CHRONICLE_QUERY_ANSWERS_SYSTEMCALLS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace chronicle::answers {

/// "write"; empty: a number that this version does not know.
llvm::StringRef systemCallName(uint32_t Number);
/// How many it takes, at most.
unsigned systemCallArguments(uint32_t Number);
std::optional<uint32_t> systemCallNumber(llvm::StringRef Name);

/// "ENOENT" for a result of -2; empty: no error.
llvm::StringRef systemCallError(int64_t Result);

/// "SIGSEGV", "SIGRTMIN+3".
std::string signalName(uint32_t Number);

} // namespace chronicle::answers

#endif
