// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What wrote a value, as text.

#ifndef CHRONICLE_LLDB_PLUGIN_VALUES_WRITERTEXT_H
#define CHRONICLE_LLDB_PLUGIN_VALUES_WRITERTEXT_H

#include "query/questions/SystemCallQuestions.h"

namespace chronicle::values {

/// The name of the function that the call entered, or its address.
std::string functionOf(const query::Trace &T, const answers::Activation &Call);

/// "instruction 0x401136 in transfer at demo.c:26", "system call read(3,
/// "hello", 64) = 5 from main at demo.c:26". Place is target::placeOf() of it.
/// A mapping has a text of its own.
std::string writerText(answers::Writer By, uint64_t Pc, llvm::StringRef Place,
                       const std::optional<questions::SystemCall> &Call);

} // namespace chronicle::values

#endif
