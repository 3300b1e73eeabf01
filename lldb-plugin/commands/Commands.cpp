// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/Commands.h"
#include "lldb-plugin/commands/LldbCommand.h"
#include "lldb-plugin/target/LoadedTrace.h"

using namespace llvm;

namespace chronicle::commands {

bool addCommands(lldb::SBCommandInterpreter Interpreter) {
  lldb::SBCommand Group = Interpreter.AddMultiwordCommand(
      "chronicle", "Commands for going through a recorded run in time.");
  if (!Group.IsValid())
    return false;
  for (ArrayRef<CommandSpec> Table :
       {loadCommands(), momentCommands(), bookmarkCommands(), writeCommands(),
        executionCommands(), callCommands(), eventCommands(),
        reverseCommands()})
    for (const CommandSpec &Spec : Table)
      if (!addCommand(Interpreter, Group, Spec))
        return false;
  // LLDB refuses it during a stop that it does not show.
  auto Interrupt = [](void *Debugger, const char **) {
    std::shared_ptr<target::LoadedTrace> Loaded =
        target::LoadedTrace::of(lldb::SBDebugger::FindDebuggerWithID(
            reinterpret_cast<size_t>(Debugger)));
    return Loaded && Loaded->interrupt();
  };
  Interpreter.SetCommandOverrideCallback(
      "process interrupt", Interrupt,
      reinterpret_cast<void *>(size_t(Interpreter.GetDebugger().GetID())));
  return true;
}

} // namespace chronicle::commands
