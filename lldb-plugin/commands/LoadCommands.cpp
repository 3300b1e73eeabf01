// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// load, and what the stop hook that it sets up runs.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/commands/NextSteps.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "lldb-plugin/target/Prompt.h"
#include "query/answers/RunEnd.h"
#include "query/heap/HeapQuestions.h"
#include "query/processes/RunDirectory.h"
#include "trace-format/Text.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>

using namespace llvm;

namespace chronicle::commands {

/// LLDB asks a debuginfod server for the symbols of every library that has
/// none, by default and without saying so. That may take minutes, and tells the
/// server what is debugged.
static Error forgetServers(lldb::SBDebugger Debugger) {
  constexpr const char *Setting =
      "plugin.symbol-locator.debuginfod.server-urls";
  const char *Instance = Debugger.GetInstanceName();
  // LLDB may be built without debuginfod.
  if (!lldb::SBDebugger::GetInternalVariableValue(Setting, Instance).GetSize())
    return Error::success();
  lldb::SBError Failed =
      lldb::SBDebugger::SetInternalVariable(Setting, "", Instance);
  if (Failed.Fail())
    return createStringError(std::string("cannot keep LLDB off the network: ") +
                             Failed.GetCString());
  return Error::success();
}

/// One line on what to try next.
static std::string hint(const target::LoadedTrace &Loaded) {
  return formatv("Next, for example: '{0}'. 'chronicle' alone shows more.\n",
                 nextSteps(&Loaded).front().Command);
}

static Error readFileOptions(const CommandCall &Call,
                             target::LoadOptions &How) {
  How.At = Call.value("at", "end").str();
  How.Files.AnyBuild = Call.has("any-build");
  How.Files.Sysroot = Call.value("sysroot").rtrim('/').str();
  if (Call.has("sysroot") && !sys::fs::is_directory(Call.value("sysroot")))
    return createStringError("invalid --sysroot: '" + Call.value("sysroot") +
                             "' is not a directory");
  auto &Directories = How.Files.DebugDirectories;
  std::vector<std::string> Given;
  for (StringRef Directory : Call.values("debug-directory"))
    Given.push_back(Directory.str());
  Directories.insert(Directories.begin(), Given.begin(), Given.end());
  for (StringRef Text : Call.values("source-map")) {
    Expected<target::SourceMapping> Mapping = target::parseSourceMapping(Text);
    if (!Mapping)
      return Mapping.takeError();
    How.SourceMap.push_back(std::move(*Mapping));
  }
  return Error::success();
}

/// One line on the block of the heap that the program crashed on; empty if
/// there is none, or if it takes long to find out.
static std::string heapNote(CommandCall &Call, target::LoadedTrace &Loaded) {
  constexpr uint64_t MostInstructions = 50'000'000; // under a second
  constexpr uint64_t LowestMapping = 64 << 10;      // below are null pointers
  const query::Trace &T = Loaded.trace();
  const auto Killer = answers::RunEnd::of(T.reader().end()).signal();
  if (!Killer || T.instructions() > MostInstructions ||
      Loaded.position().Time != T.instructions())
    return "";
  const std::optional<uint64_t> Address = faultAddress(T);
  if (Address ? *Address < LowestMapping : *Killer != SIGABRT)
    return "";
  std::shared_ptr<const heap::HeapHistory> Heap;
  std::string Note;
  Error E = Call.make<std::shared_ptr<const heap::HeapHistory>>(
                    "Looking for calls of allocators",
                    [&](const answers::IndexProgress &Progress) {
                      return heap::heapHistory(T, {}, Progress);
                    })
                .moveInto(Heap);
  if (!E)
    E = heap::crashNote(T, *Heap, Address).moveInto(Note);
  consumeError(std::move(E)); // it only means one line less
  return Note.empty() ? "" : Note + ".\n";
}

static Error load(CommandCall &Call) {
  if (Call.words().empty())
    return createStringError("missing argument: name the trace that 'chronicle "
                             "record' wrote");
  Expected<processes::ChosenTrace> Chosen =
      processes::chooseTrace(Call.words().front(), Call.value("process"));
  if (!Chosen)
    return Chosen.takeError();
  StringRef Path = Chosen->Path;
  if (!Call.has("debuginfod"))
    if (Error E = forgetServers(Call.debugger()))
      return E;
  target::LoadOptions How;
  if (Error E = readFileOptions(Call, How))
    return E;
  std::vector<std::string> Warnings;
  std::string StopText;
  Expected<std::shared_ptr<target::LoadedTrace>> L =
      target::LoadedTrace::load(Call.debugger(), Path, How, Warnings, StopText);
  if (!L)
    return L.takeError();
  const query::Trace &T = (*L)->trace();
  if (!Chosen->Note.empty())
    Call.print("This is " + Chosen->Note + ".\n");
  for (const std::string &Warning : Warnings)
    Call.result().AppendWarning(Warning.c_str());
  if (!T.reader().truncated().empty())
    Call.result().AppendWarning(T.reader().truncated().str().c_str());
  Call.print(formatv("Loaded {0}: {1} instructions, now at {2}.\n", Path,
                     groupedDigits(T.instructions()),
                     groupedDigits((*L)->position().Time))
                 .str());
  Call.print(StopText);
  Call.print(heapNote(Call, **L));
  // Where another client shows the stop, it has its own ways to go on.
  if (!StopText.empty())
    Call.print(hint(**L));
  return Error::success();
}

static Error stopped(CommandCall &Call) {
  Call.result().SetStatus(lldb::eReturnStatusSuccessFinishNoResult);
  lldb::SBProcess Process = Call.debugger().GetSelectedTarget().GetProcess();
  internals::resetDirection(Process);
  if (std::shared_ptr<target::LoadedTrace> L =
          target::LoadedTrace::of(Call.debugger()))
    L->stopped();
  target::updatePrompt(Call.debugger());
  // After a jump to another thread LLDB keeps a thread selected that did
  // nothing.
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
      {"at", 0, "moment", "Stop at this moment instead of at the end.",
       Completes::Moment},
      {"process", 0, "pid|name|#n",
       "Of a run of several processes, load this one instead of the one that "
       "crashed or failed."},
      {"any-build", 0, nullptr,
       "Use programs and libraries on disk although they are not the builds "
       "that were recorded: names, lines and variables may be wrong."},
      {"sysroot", 0, "directory",
       "Look for programs and libraries below this directory first: a copy of "
       "the recording machine's files.",
       Completes::File},
      {"debug-directory", 0, "directory",
       "Look for separate debug files in this directory before "
       "/usr/lib/debug; may be repeated.",
       Completes::File},
      {"source-map", 0, "from=to",
       "The sources that were in directory <from> are in <to>; may be "
       "repeated."},
      {"debuginfod", 0, nullptr,
       "Let LLDB ask debuginfod servers on the network for symbols."}};
  static const CommandSpec Table[] = {
      {.Name = "load",
       .RunWithoutTrace = load,
       .Help =
           "Load a recorded run as a process that goes forward and backward.",
       .Arguments = "<trace.db> [--at <moment>] [--process <pid|name|#n>] "
                    "[--any-build] [--sysroot "
                    "<directory>] [--debug-directory <directory>] "
                    "[--source-map <from>=<to>] [--debuginfod]",
       .Details =
           "Makes a target from the recorded program and stops at the end "
           "of the run, or at the moment given by --at: a timestamp, "
           "a percentage of the run, start, end, crash or a bookmark.\nA file "
           "on disk that is not the build "
           "that was recorded is not used. The copy that the recorder kept is, "
           "and so are the files that 'chronicle pack' put into the "
           "trace.\nThe "
           "network is not used: this "
           "empties the setting plugin.symbol-locator.debuginfod.server-urls, "
           "unless --debuginfod is given.\n",
       .Examples = "  process trace load trace.db\n"
                   "  chronicle load trace.db --at start\n"
                   "  chronicle load trace.db --at 99.8%\n",
       .Options = LoadOptions,
       .Words = Completes::File,
       .MostWords = 1},
      {.Name = "_chronicle-stopped",
       .RunWithoutTrace = stopped,
       .Help = "For Chronicle's own use.",
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::commands
