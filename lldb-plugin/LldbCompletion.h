// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Completion for the arguments of our commands, which LLDB's public API cannot
/// do. As LldbInternals.h, for one release of LLDB only.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDBCOMPLETION_H
#define CHRONICLE_LLDB_PLUGIN_LLDBCOMPLETION_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace chronicle::internals {

/// Given the words after the command's name up to the cursor, gives all that
/// the last one may become. Those that end in a slash are not complete yet.
using Completer =
    std::function<std::vector<std::string>(llvm::ArrayRef<llvm::StringRef>)>;

/// Sets the completer of `chronicle NAME`. Does nothing for another LLDB than
/// the one whose headers were used.
void setCompletion(lldb::SBCommandInterpreter Interpreter, const char *Name,
                   Completer Complete);

} // namespace chronicle::internals

#endif
