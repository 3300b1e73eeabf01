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
  return true;
}

} // namespace chronicle
