// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The function that `plugin load liblldbChronicle.so` calls.

#include "lldb-plugin/causes/CauseCommands.h"
#include "lldb-plugin/commands/Commands.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "lldb-plugin/logs/LogCommands.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

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
  // The debuggers that have the commands of this copy of the plugin.
  static std::set<lldb::user_id_t> Ours;
  if (chronicle::internals::hasCommands(Interpreter)) {
    if (!Ours.count(Debugger.GetID()))
      llvm::errs() << "chronicle: another copy of this plugin is loaded "
                      "already, perhaps by ~/.lldbinit, and stays in use: "
                      "'chronicle setup-lldb' makes LLDB load this one\n";
    return true;
  }
  if (!chronicle::commands::addCommands(Interpreter,
                                        {chronicle::causes::whyCommands(),
                                         chronicle::causes::controlCommands(),
                                         chronicle::causes::heapCommands(),
                                         chronicle::logs::logCommands(),
                                         chronicle::logs::callListCommands(),
                                         chronicle::logs::treeCommands()}))
    return false;
  Ours.insert(Debugger.GetID());
  if (!chronicle::internals::addProcessTraceLoad(Interpreter))
    llvm::errs() << "chronicle: this LLDB has no 'process trace' command: use "
                    "'chronicle load' instead of 'process trace load'\n";
  return true;
}
