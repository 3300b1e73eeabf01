// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/Commands.h"
#include "lldb-plugin/commands/LldbCommand.h"
#include "lldb-plugin/lldb/ExpressionCommand.h"
#include "lldb-plugin/lldb/GroupCommand.h"
#include "lldb-plugin/target/LoadedTrace.h"
#include "query/base/UnknownName.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::commands {

/// The trace of the debugger whose number is Baton.
static std::shared_ptr<target::LoadedTrace> loadedIn(void *Baton) {
  return target::LoadedTrace::of(
      lldb::SBDebugger::FindDebuggerWithID(reinterpret_cast<size_t>(Baton)));
}

/// `process interrupt`, which LLDB refuses during a stop that it does not show.
static bool interrupt(void *Baton, const char **) {
  std::shared_ptr<target::LoadedTrace> Loaded = loadedIn(Baton);
  return Loaded && Loaded->interrupt();
}

/// `process launch` and its aliases, such as `run`. LLDB would leave the trace
/// and start the program again.
static bool launch(void *Baton, const char **) {
  std::shared_ptr<target::LoadedTrace> Loaded = loadedIn(Baton);
  if (!Loaded)
    return false;
  lldb::SBDebugger Debugger = Loaded->process().GetTarget().GetDebugger();
  lldb::SBCommandReturnObject Result;
  Result.PutCString("This is a recorded run: going to its start. After "
                    "'process detach', 'run' starts the program itself.\n");
  Loaded->jump(Debugger, {0, 0}, {session::StopKind::Begin}, Result);
  Result.PutOutput(Debugger.GetOutputFile());
  Result.PutError(Debugger.GetErrorFile());
  return true;
}

/// `quit` and its aliases. LLDB asks before it leaves a process alone; a
/// recorded run loses nothing by that.
static bool quit(void *Baton, const char **) {
  lldb::SBDebugger Debugger =
      lldb::SBDebugger::FindDebuggerWithID(reinterpret_cast<size_t>(Baton));
  for (uint32_t I = 0; I < Debugger.GetNumTargets(); ++I) {
    lldb::SBProcess Process = Debugger.GetTargetAtIndex(I).GetProcess();
    if (Process.IsValid() && !target::LoadedTrace::of(Process.GetUniqueID()))
      return false;
  }
  lldb::SBDebugger::SetInternalVariable("interpreter.prompt-on-quit", "false",
                                        Debugger.GetInstanceName());
  return false; // LLDB's own command does the rest
}

bool addCommands(lldb::SBCommandInterpreter Interpreter,
                 ArrayRef<ArrayRef<CommandSpec>> Others) {
  lldb::SBCommand Group = Interpreter.AddMultiwordCommand(
      "chronicle", "Commands for going through a recorded run in time.");
  if (!Group.IsValid())
    return false;
  std::vector<ArrayRef<CommandSpec>> Tables = {
      loadCommands(),      statusCommands(), momentCommands(),
      bookmarkCommands(),  writeCommands(),  readCommands(),
      executionCommands(), callCommands(),   eventCommands(),
      exceptionCommands(), reverseCommands()};
  append_range(Tables, Others);
  std::vector<StringRef> Names; // the tables live as long as the program
  for (ArrayRef<CommandSpec> Table : Tables)
    for (const CommandSpec &Spec : Table) {
      if (!addCommand(Interpreter, Group, Spec))
        return false;
      Names.emplace_back(Spec.Name);
    }
  internals::setDefaultCommand(
      Interpreter, "status",
      [Names = std::move(Names)](StringRef Name) -> std::string {
        // LLDB lists what it may be short for.
        if (any_of(Names, [&](StringRef N) { return N.starts_with(Name); }))
          return "";
        const bool Option = Name.starts_with("-");
        return base::unknownName(
            Option ? "option" : "command", Name,
            ArrayRef(Names).take_front(Option ? 0 : Names.size()),
            "'help chronicle' lists the commands");
      });
  void *Baton =
      reinterpret_cast<void *>(size_t(Interpreter.GetDebugger().GetID()));
  internals::afterExpressions(Interpreter, [Baton] {
    if (std::shared_ptr<target::LoadedTrace> Loaded = loadedIn(Baton))
      Loaded->forgetCall();
  });
  return Interpreter.SetCommandOverrideCallback("process interrupt", interrupt,
                                                Baton) &&
         Interpreter.SetCommandOverrideCallback("process launch", launch,
                                                Baton) &&
         Interpreter.SetCommandOverrideCallback("quit", quit, Baton);
}

} // namespace chronicle::commands
