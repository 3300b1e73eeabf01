// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Commands.h"
#include "lldb-plugin/Command.h"

using namespace llvm;

namespace chronicle {

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
  // LLDB refuses it while it is at a stop that it does not show.
  auto Interrupt = [](void *Debugger, const char **) {
    std::shared_ptr<LoadedTrace> Loaded =
        LoadedTrace::of(lldb::SBDebugger::FindDebuggerWithID(
            reinterpret_cast<size_t>(Debugger)));
    return Loaded && Loaded->interrupt();
  };
  Interpreter.SetCommandOverrideCallback(
      "process interrupt", Interrupt,
      reinterpret_cast<void *>(size_t(Interpreter.GetDebugger().GetID())));
  return true;
}

} // namespace chronicle
