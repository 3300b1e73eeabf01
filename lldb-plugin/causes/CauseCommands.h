// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle …` commands that say why something is as it is.

#ifndef CHRONICLE_LLDB_PLUGIN_CAUSES_CAUSECOMMANDS_H
#define CHRONICLE_LLDB_PLUGIN_CAUSES_CAUSECOMMANDS_H

#include "lldb-plugin/commands/CommandSpec.h"

namespace chronicle::causes {

/// The tables of the files …Commands.cpp.
llvm::ArrayRef<commands::CommandSpec> whyCommands();
llvm::ArrayRef<commands::CommandSpec> controlCommands();
llvm::ArrayRef<commands::CommandSpec> heapCommands();

} // namespace chronicle::causes

#endif
