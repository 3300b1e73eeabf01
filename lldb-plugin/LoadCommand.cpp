// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// load, and what the stop hook that it sets up runs.

#include "lldb-plugin/Command.h"
#include "lldb-plugin/LldbInternals.h"

using namespace llvm;

namespace chronicle {

static Error load(CommandCall &Call) {
  if (Call.words().empty())
    return createStringError("which trace? name the file that 'chronicle "
                             "record' wrote");
  StringRef Path = Call.words().front();
  std::vector<std::string> Warnings;
  std::string StopText;
  Expected<std::shared_ptr<LoadedTrace>> L =
      LoadedTrace::load(Call.debugger(), Path, Call.value("at", "end"),
                        Call.has("any-build"), Warnings, StopText);
  if (!L)
    return L.takeError();
  const Trace &T = (*L)->trace();
  for (const std::string &Warning : Warnings)
    Call.result().AppendWarning(Warning.c_str());
  if (!T.reader().truncated().empty())
    Call.result().AppendWarning(T.reader().truncated().str().c_str());
  Call.print(formatv("Loaded {0}: {1} instructions, now at {2}.\n", Path,
                     T.instructions(), (*L)->position().Time)
                 .str());
  Call.print(StopText);
  return Error::success();
}

static Error stopped(CommandCall &Call) {
  Call.result().SetStatus(lldb::eReturnStatusSuccessFinishNoResult);
  lldb::SBProcess Process = Call.debugger().GetSelectedTarget().GetProcess();
  internals::resetDirection(Process);
  if (std::shared_ptr<LoadedTrace> L = LoadedTrace::of(Call.debugger()))
    L->stopped();
  // LLDB stays in a thread that did nothing when another arrives by a jump.
  if (Process.GetSelectedThread().GetStopReason() == lldb::eStopReasonNone)
    for (uint32_t I = 0, N = Process.GetNumThreads(); I < N; ++I) {
      lldb::SBThread Thread = Process.GetThreadAtIndex(I);
      if (Thread.GetStopReason() == lldb::eStopReasonHistoryBoundary)
        Process.SetSelectedThread(Thread);
    }
  return Error::success();
}

ArrayRef<CommandSpec> loadCommands() {
  static const OptionSpec LoadOptions[] = {
      {"at", 0, "moment", "Stop there instead of at the end.",
       Completes::Moment},
      {"any-build", 0, nullptr,
       "Use programs and libraries on disk although they are not the builds "
       "that were recorded: names, lines and variables may be wrong."}};
  static const CommandSpec Table[] = {
      {.Name = "load",
       .Run = load,
       .Help =
           "Load a recorded run as a process that goes forward and backward.",
       .Arguments = "<trace.db> [--at <moment>] [--any-build]",
       .Details = "Makes a target of the recorded program and stops at the end "
                  "of the run, or where --at says: a timestamp, start, end or "
                  "crash.\nA file on disk that is not the build that was "
                  "recorded is not used.\n",
       .Examples = "  process trace load trace.db\n"
                   "  chronicle load trace.db --at start\n",
       .Options = LoadOptions,
       .Words = Completes::File,
       .MostWords = 1},
      {.Name = "_chronicle-stopped",
       .Run = stopped,
       .Help = "For Chronicle's own use.",
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle
