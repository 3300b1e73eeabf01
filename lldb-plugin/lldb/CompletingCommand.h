// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Completion for the arguments of the `chronicle` commands, which LLDB's
/// public API does not offer.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_COMPLETINGCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_COMPLETINGCOMMAND_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace chronicle::internals {

/// Takes the words after the command's name, the last one cut at the cursor.
/// Returns everything that the last word may become. A result that ends in a
/// slash is not complete yet.
using Completer =
    std::function<std::vector<std::string>(llvm::ArrayRef<llvm::StringRef>)>;

/// Puts a command that completes its arguments in the place of `chronicle
/// NAME`, which must exist. The new command leaves everything else to the old
/// one.
void setCompletion(lldb::SBCommandInterpreter Interpreter, const char *Name,
                   Completer Complete);

} // namespace chronicle::internals

#endif
