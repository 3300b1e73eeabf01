// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The `chronicle …` commands of LLDB.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_H

#include "lldb/API/LLDB.h"

namespace chronicle {

/// Adds the multiword command `chronicle` and everything under it. False: LLDB
/// would not have it.
bool addCommands(lldb::SBCommandInterpreter Interpreter);

} // namespace chronicle

#endif
