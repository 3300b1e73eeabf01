// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Tells when LLDB has printed the result of an expression.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_EXPRESSIONCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_EXPRESSIONCOMMAND_H

#include "lldb/API/LLDB.h"
#include <functional>

namespace chronicle::internals {

/// Calls Done after each `expression` and `dwim-print`, by whatever name (`p`,
/// `po`, `call`, an alias of the user's) it was given.
void afterExpressions(lldb::SBCommandInterpreter Interpreter,
                      const std::function<void()> &Done);

} // namespace chronicle::internals

#endif
