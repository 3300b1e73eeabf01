// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What `plugin load liblldbChronicle.so` calls.

#include "lldb-plugin/Commands.h"
#include "lldb-plugin/LldbInternals.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

namespace lldb {
bool PluginInitialize(SBDebugger Debugger);
}

__attribute__((visibility("default"))) bool
lldb::PluginInitialize(lldb::SBDebugger Debugger) {
  SBCommandInterpreter Interpreter = Debugger.GetCommandInterpreter();
  if (Interpreter.UserCommandExists("chronicle"))
    return true;
  if (!chronicle::addCommands(Interpreter))
    return false;
  if (!chronicle::internals::addProcessTraceLoad(Interpreter))
    llvm::errs() << "chronicle: built for LLDB " LLVM_VERSION_STRING
                    ", this is "
                 << SBDebugger::GetVersionString()
                 << ": use 'chronicle load' instead of 'process trace load'\n";
  return true;
}
