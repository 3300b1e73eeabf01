// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/PrivateMember.h"
#include "lldb/Interpreter/CommandInterpreter.h"
#include "lldb/Interpreter/CommandObject.h"
#include "lldb/Target/Process.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"

using namespace lldb;

using Arguments =
    std::vector<lldb_private::CommandObject::CommandArgumentEntry>;
PRIVATE_MEMBER(InterpreterPointer, SBCommandInterpreter,
               lldb_private::CommandInterpreter *, m_opaque_ptr);
PRIVATE_MEMBER(ProcessPointer, SBProcess, ProcessWP, m_opaque_wp);
PRIVATE_MEMBER(BaseDirection, lldb_private::Process, RunDirection,
               m_base_direction);
PRIVATE_MEMBER(CommandArguments, lldb_private::CommandObject, Arguments,
               m_arguments);

namespace chronicle::internals {

bool matches() {
  static const bool Result = [] {
    llvm::StringRef Version = SBDebugger::GetVersionString();
    llvm::StringRef Ours = LLVM_VERSION_STRING;
    size_t At = Version.find(Ours);
    if (At == llvm::StringRef::npos)
      return false;
    // Not the start of a longer number.
    llvm::StringRef After = Version.substr(At + Ours.size());
    return After.empty() || !(llvm::isDigit(After[0]) || After[0] == '.');
  }();
  return Result;
}

bool addProcessTraceLoad(SBCommandInterpreter Interpreter) {
  if (!matches())
    return false;
  lldb_private::CommandInterpreter *Private =
      Interpreter.*memberOf(InterpreterPointer());
  auto &Ours = Private->GetUserMultiwordCommands();
  auto &Theirs = Private->GetCommands();
  auto Chronicle = Ours.find("chronicle");
  auto Process = Theirs.find("process");
  if (Chronicle == Ours.end() || Process == Theirs.end())
    return false;
  CommandObjectSP Load = Chronicle->second->GetSubcommandSPExact("load");
  lldb_private::CommandObject *Trace =
      Process->second->GetSubcommandObject("trace");
  if (!Load || !Trace)
    return false;
  Arguments &Takes = Load.get()->*memberOf(CommandArguments());
  if (Takes.size() == 1 && Takes[0].size() == 1)
    Takes[0][0].arg_type = eArgTypeFilename;
  return Trace->LoadSubCommand("load", Load);
}

void resetDirection(SBProcess Process) {
  if (!matches())
    return;
  if (ProcessSP Private = (Process.*memberOf(ProcessPointer())).lock())
    Private.get()->*memberOf(BaseDirection()) = eRunForward;
}

} // namespace chronicle::internals
