// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle …` commands that list what code did, with values.

#ifndef CHRONICLE_LLDB_PLUGIN_LOGS_LOGCOMMANDS_H
#define CHRONICLE_LLDB_PLUGIN_LOGS_LOGCOMMANDS_H

#include "lldb-plugin/commands/CommandSpec.h"

namespace chronicle::logs {

/// The tables of the files …Commands.cpp.
llvm::ArrayRef<commands::CommandSpec> logCommands();
llvm::ArrayRef<commands::CommandSpec> callListCommands();
llvm::ArrayRef<commands::CommandSpec> treeCommands();

} // namespace chronicle::logs

#endif
