// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The function that `plugin load liblldbChronicle.so` calls.

#include "lldb-plugin/commands/Commands.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "llvm/Support/raw_ostream.h"

namespace lldb {
bool PluginInitialize(SBDebugger Debugger);
}

/// \return false if the plugin refuses this LLDB.
__attribute__((visibility("default"))) bool
lldb::PluginInitialize(lldb::SBDebugger Debugger) {
  std::string Refusal = chronicle::internals::unsupportedVersion();
  if (!Refusal.empty()) {
    llvm::errs() << "chronicle: " << Refusal << '\n';
    return false;
  }
  SBCommandInterpreter Interpreter = Debugger.GetCommandInterpreter();
  if (chronicle::internals::hasCommands(Interpreter))
    return true;
  if (!chronicle::commands::addCommands(Interpreter))
    return false;
  if (!chronicle::internals::addProcessTraceLoad(Interpreter))
    llvm::errs() << "chronicle: this LLDB has no 'process trace' command: use "
                    "'chronicle load' instead of 'process trace load'\n";
  return true;
}
