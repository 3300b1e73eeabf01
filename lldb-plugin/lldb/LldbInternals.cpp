// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/LldbInternals.h"
#include "lldb-plugin/lldb/PrivateLldb.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"

using namespace lldb;

namespace chronicle::internals {

std::string unsupportedVersion() {
  llvm::StringRef Version = SBDebugger::GetVersionString();
  llvm::StringRef Ours = LLVM_VERSION_STRING;
  size_t At = Version.find(Ours);
  if (At != llvm::StringRef::npos) {
    // 22.1.1 must not match 22.1.10.
    llvm::StringRef After = Version.substr(At + Ours.size());
    if (After.empty() || (!llvm::isDigit(After[0]) && After[0] != '.'))
      return "";
  }
  return ("this plugin was built for LLDB " + Ours + ", but this is " +
          Version.split('\n').first +
          ": use that LLDB, or build Chronicle with this one")
      .str();
}

bool hasCommands(SBCommandInterpreter Interpreter) {
  return privateInterpreter(Interpreter)
      .GetUserMultiwordCommands()
      .count("chronicle");
}

bool addProcessTraceLoad(SBCommandInterpreter Interpreter) {
  lldb_private::CommandInterpreter &Private = privateInterpreter(Interpreter);
  auto &Ours = Private.GetUserMultiwordCommands();
  auto &Theirs = Private.GetCommands();
  auto Chronicle = Ours.find("chronicle");
  auto Process = Theirs.find("process");
  if (Chronicle == Ours.end() || Process == Theirs.end())
    return false;
  CommandObjectSP Load = Chronicle->second->GetSubcommandSPExact("load");
  lldb_private::CommandObject *Trace =
      Process->second->GetSubcommandObject("trace");
  return Load && Trace && Trace->LoadSubCommand("load", Load);
}

bool hasPrompt(SBCommandInterpreter Interpreter) {
  return readsCommands(privateInterpreter(Interpreter)) &&
         Interpreter.IsActive();
}

bool commandInterrupted(SBCommandInterpreter Interpreter) {
  return isInterrupted(privateInterpreter(Interpreter));
}

void resetDirection(SBProcess Process) {
  if (ProcessSP Private = privateProcess(Process))
    baseDirection(*Private) = eRunForward;
}

std::function<void()> stopPreparation(SBTarget Target,
                                      const std::vector<uint64_t> &OsThreads) {
  std::map<uint64_t, uint32_t> Wanted;
  for (uint64_t Each : OsThreads)
    Wanted.try_emplace(Each, uint32_t(Wanted.size() + 1));
  return [Weak = TargetWP(privateTarget(Target)), Wanted = std::move(Wanted)] {
    TargetSP Private = Weak.lock();
    ProcessSP Process = Private ? processOf(*Private) : nullptr;
    if (!Process)
      return;
    allowOwnCode(*Process);
    // LLDB nearly always still has all of them.
    std::map<uint64_t, uint32_t> &Known = threadNumbers(*Process);
    if (Known.size() < Wanted.size())
      Known.insert(Wanted.begin(), Wanted.end());
    uint32_t &Last = lastThreadNumber(*Process);
    Last = std::max(Last, uint32_t(Wanted.size()));
  };
}

void forgetMemory(SBProcess Process) {
  if (ProcessSP Private = privateProcess(Process))
    forgetMemory(*Private);
}

/// The frames that LLDB has found so far; null: none.
static StackFrameListSP framesOf(SBThread Thread) {
  SBFrame Innermost = Thread.GetFrameAtIndex(0); // makes LLDB look for frames
  ProcessSP Private = privateProcess(Thread.GetProcess());
  if (!Private || !Innermost.IsValid())
    return nullptr;
  for (const ThreadSP &Each : Private->GetThreadList().Threads())
    if (Each->GetID() == Thread.GetThreadID())
      return currentFrames(*Each);
  return nullptr;
}

void hideScopes(SBThread Thread, unsigned Hidden) {
  StackFrameListSP List = framesOf(Thread);
  if (!List)
    return;
  inlinedPc(*List) = Thread.GetFrameAtIndex(0).GetPC();
  inlinedDepth(*List) = Hidden;
}

unsigned hiddenScopes(SBThread Thread) {
  StackFrameListSP List = framesOf(Thread);
  if (!List || inlinedPc(*List) != Thread.GetFrameAtIndex(0).GetPC())
    return 0;
  uint32_t Depth = inlinedDepth(*List);
  return Depth == UINT32_MAX ? 0 : Depth;
}

} // namespace chronicle::internals
