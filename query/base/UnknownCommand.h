// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The message about a command that does not exist.

#ifndef CHRONICLE_QUERY_BASE_UNKNOWNCOMMAND_H
#define CHRONICLE_QUERY_BASE_UNKNOWNCOMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::base {

/// "unknown command 'recrod'; did you mean 'record'?" If no command has a
/// similar name, \p Otherwise follows the semicolon.
std::string unknownCommand(llvm::StringRef Name,
                           llvm::ArrayRef<llvm::StringRef> Commands,
                           llvm::StringRef Otherwise);

} // namespace chronicle::base

#endif
