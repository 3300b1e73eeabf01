// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Names for the parts of the guest state, for text that developers read.

#ifndef CHRONICLE_TRACE_FORMAT_GUESTNAMES_H
#define CHRONICLE_TRACE_FORMAT_GUESTNAMES_H

#include <string>

namespace chronicle {

/// "rax", "ymm3+8", "state+900": the part of the guest state at an offset.
std::string guestName(unsigned Offset);

} // namespace chronicle

#endif
