// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What `chronicle` does without a subcommand or with an unknown one, which
/// LLDB's public API does not let a group of commands choose.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_GROUPCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_GROUPCOMMAND_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>

namespace chronicle::internals {

/// Makes the group `chronicle`, which must exist, run one of its subcommands if
/// none is named. LLDB would print the list of them, as `help chronicle` still
/// does. If one is named that does not exist, the command fails with what
/// Unknown says of that name; if it says nothing, with what LLDB says.
void setDefaultCommand(
    lldb::SBCommandInterpreter Interpreter, const char *Subcommand,
    std::function<std::string(llvm::StringRef Name)> Unknown);

} // namespace chronicle::internals

#endif
