// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What `chronicle` without a subcommand does, which LLDB's public API does not
/// let a group of commands choose.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_GROUPCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_GROUPCOMMAND_H

#include "lldb/API/LLDB.h"

namespace chronicle::internals {

/// Makes the group `chronicle`, which must exist, run one of its subcommands if
/// none is named. LLDB would print the list of them, as `help chronicle` still
/// does.
void setDefaultCommand(lldb::SBCommandInterpreter Interpreter,
                       const char *Subcommand);

} // namespace chronicle::internals

#endif
