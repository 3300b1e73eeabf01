// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/PrivateMember.h"
#include "lldb/Interpreter/CommandInterpreter.h"
#include "lldb/Interpreter/CommandObject.h"
#include "lldb/Target/Process.h"
#include "lldb/Target/StackFrameList.h"
#include "lldb/Target/Target.h"
#include "lldb/Target/Thread.h"
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
using Numbers = std::map<uint64_t, uint32_t>;
PRIVATE_MEMBER(TargetPointer, SBTarget, TargetSP, m_opaque_sp);
PRIVATE_MEMBER(TargetProcess, lldb_private::Target, ProcessSP, m_process_sp);
PRIVATE_MEMBER(ThreadNumbers, lldb_private::Process, Numbers,
               m_thread_id_to_index_id_map);
PRIVATE_MEMBER(LastThreadNumber, lldb_private::Process, uint32_t,
               m_thread_index_id);
PRIVATE_MEMBER(CommandArguments, lldb_private::CommandObject, Arguments,
               m_arguments);

PRIVATE_MEMBER(ProcessThreads, lldb_private::Process, lldb_private::ThreadList,
               m_thread_list);
PRIVATE_MEMBER(Collected, lldb_private::ThreadCollection, std::vector<ThreadSP>,
               m_threads);
PRIVATE_MEMBER(Frames, lldb_private::Thread, StackFrameListSP,
               m_curr_frames_sp);
PRIVATE_MEMBER(InlinedDepth, lldb_private::StackFrameList, uint32_t,
               m_current_inlined_depth);
PRIVATE_MEMBER(InlinedPc, lldb_private::StackFrameList, addr_t,
               m_current_inlined_pc);

/// As PRIVATE_MEMBER, where the type cannot be named either.
static bool isInterrupted(lldb_private::CommandInterpreter &Interpreter);
template <auto State> struct CommandState {
  friend bool isInterrupted(lldb_private::CommandInterpreter &Interpreter) {
    using Value = decltype((Interpreter.*State).load());
    return (Interpreter.*State).load() == Value::eInterrupted;
  }
};
template struct CommandState<
    &lldb_private::CommandInterpreter::m_command_state>;

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

bool commandInterrupted(SBCommandInterpreter Interpreter) {
  if (!matches())
    return Interpreter.WasInterrupted();
  return isInterrupted(*(Interpreter.*memberOf(InterpreterPointer())));
}

void resetDirection(SBProcess Process) {
  if (!matches())
    return;
  if (ProcessSP Private = (Process.*memberOf(ProcessPointer())).lock())
    Private.get()->*memberOf(BaseDirection()) = eRunForward;
}

std::function<void()> threadNumbering(SBTarget Target,
                                      std::vector<uint64_t> OsThreads) {
  if (!matches())
    return {};
  Numbers Wanted;
  for (uint64_t Each : OsThreads)
    Wanted.try_emplace(Each, uint32_t(Wanted.size() + 1));
  return [Weak = TargetWP(Target.*memberOf(TargetPointer())),
          Wanted = std::move(Wanted)] {
    TargetSP Private = Weak.lock();
    if (!Private)
      return;
    ProcessSP Process = Private.get()->*memberOf(TargetProcess());
    if (!Process)
      return;
    // Nearly always all of them are still there.
    Numbers &Known = Process.get()->*memberOf(ThreadNumbers());
    if (Known.size() < Wanted.size())
      Known.insert(Wanted.begin(), Wanted.end());
    uint32_t &Last = Process.get()->*memberOf(LastThreadNumber());
    Last = std::max(Last, uint32_t(Wanted.size()));
  };
}

/// The frames that LLDB has found so far; null: not known.
static StackFrameListSP framesOf(SBThread Thread) {
  if (!matches())
    return nullptr;
  SBFrame Innermost = Thread.GetFrameAtIndex(0); // makes it look
  ProcessSP Private = (Thread.GetProcess().*memberOf(ProcessPointer())).lock();
  if (!Private || !Innermost.IsValid())
    return nullptr;
  lldb_private::ThreadCollection &All =
      Private.get()->*memberOf(ProcessThreads());
  std::lock_guard<std::recursive_mutex> Guard(All.GetMutex());
  for (const ThreadSP &Each : All.*memberOf(Collected()))
    if (Each->GetID() == Thread.GetThreadID())
      return Each.get()->*memberOf(Frames());
  return nullptr;
}

void hideScopes(SBThread Thread, unsigned Hidden) {
  StackFrameListSP List = framesOf(Thread);
  if (!List)
    return;
  List.get()->*memberOf(InlinedPc()) = Thread.GetFrameAtIndex(0).GetPC();
  List.get()->*memberOf(InlinedDepth()) = Hidden;
}

unsigned hiddenScopes(SBThread Thread) {
  StackFrameListSP List = framesOf(Thread);
  if (!List ||
      List.get()->*memberOf(InlinedPc()) != Thread.GetFrameAtIndex(0).GetPC())
    return 0;
  uint32_t Depth = List.get()->*memberOf(InlinedDepth());
  return Depth == UINT32_MAX ? 0 : Depth;
}

} // namespace chronicle::internals
