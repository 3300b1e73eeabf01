// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The code that the words of a command name.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_CODELOCATION_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_CODELOCATION_H

#include "lldb-plugin/commands/CommandCall.h"
#include "query/questions/CodePlaces.h"

namespace chronicle::commands {

/// "file:line", an address, or a function. Without words, the pc of the
/// selected frame. (ExecutionCommands.cpp)
llvm::Expected<questions::CodeSelector> location(CommandCall &Call);

} // namespace chronicle::commands

#endif
