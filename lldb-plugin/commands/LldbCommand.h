// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes a command of LLDB from a CommandSpec.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_LLDBCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_LLDBCOMMAND_H

#include "lldb-plugin/commands/CommandSpec.h"
#include "lldb/API/LLDB.h"

namespace chronicle::commands {

/// Adds the command to the group `chronicle`. A command whose name starts with
/// an underscore, which LLDB's help does not show, is added to LLDB's own
/// commands. False: LLDB refused it.
bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec);

} // namespace chronicle::commands

#endif
