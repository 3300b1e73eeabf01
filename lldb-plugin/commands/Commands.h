// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle …` commands of LLDB.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDS_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDS_H

#include "lldb-plugin/commands/CommandSpec.h"
#include "lldb/API/LLDB.h"

namespace chronicle::commands {

/// Adds the command `chronicle` and its subcommands: those of this room, and
/// those of the tables. False: LLDB refused one.
bool addCommands(lldb::SBCommandInterpreter Interpreter,
                 llvm::ArrayRef<llvm::ArrayRef<CommandSpec>> Others);

} // namespace chronicle::commands

#endif
