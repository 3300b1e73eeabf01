// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes a whole string to a descriptor.

#ifndef CHRONICLE_QUERY_BASE_WRITEALL_H
#define CHRONICLE_QUERY_BASE_WRITEALL_H

#include "llvm/ADT/StringRef.h"

namespace chronicle::base {

/// Writes all of \p Text, in one write if the descriptor accepts that.
/// \return false if the other side is gone or the descriptor fails.
bool writeAll(int Descriptor, llvm::StringRef Text);

} // namespace chronicle::base

#endif
