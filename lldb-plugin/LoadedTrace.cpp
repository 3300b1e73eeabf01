// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/LoadedTrace.h"
#include "lldb-plugin/HistoryUnwinder.h"
#include "query/Symbols.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

static constexpr const char *TripleText = "x86_64-pc-linux-gnu";

/// The traces of all debuggers, by LLDB's number of the process.
static std::mutex RegistryLock;
static std::map<uint32_t, std::weak_ptr<LoadedTrace>> &registry() {
  // Never destroyed: sessions may outlive the statics of this library.
  static auto *Registry = new std::map<uint32_t, std::weak_ptr<LoadedTrace>>();
  return *Registry;
}

Expected<Timestamp> parseMoment(StringRef Text, Timestamp Now, Timestamp End) {
  if (Text == "start")
    return 0;
  if (Text == "end" || Text == "crash")
    return End;
  StringRef Digits = Text;
  bool Later = Digits.consume_front("+"), Earlier = Digits.consume_front("-");
  Timestamp Number;
  if (Digits.getAsInteger(0, Number))
    return createStringError(
        formatv("'{0}' is no moment: give a timestamp, start, end, crash, or "
                "+n or -n instructions from now",
                Text));
  if (Later)
    Number = Number > End - Now ? End : Now + Number;
  if (Earlier)
    Number = Number > Now ? 0 : Now - Number;
  if (Number > End)
    return createStringError(
        formatv("the run ends at {0}; there is no moment {1}", End, Number));
  return Number;
}

Expected<std::shared_ptr<LoadedTrace>>
LoadedTrace::load(lldb::SBDebugger Debugger, StringRef Path, StringRef At,
                  std::vector<std::string> &Warnings, std::string &StopText) {
  Expected<std::unique_ptr<Trace>> Opened = Trace::open(Path);
  if (!Opened)
    return Opened.takeError();
  std::shared_ptr<LoadedTrace> Result(new LoadedTrace());
  Result->T = std::move(*Opened);
  const Trace &T = *Result->T;
  Expected<Timestamp> Start =
      parseMoment(At, T.instructions(), T.instructions());
  if (!Start)
    return Start.takeError();

  std::string Program =
      T.reader().run().getString("program").value_or("").str();
  if (!sys::fs::exists(Program)) {
    Warnings.push_back(formatv(
        "{0}, the recorded program, is not there: no symbols of it", Program));
    Program.clear();
  }
  lldb::SBError Failed;
  lldb::SBTarget Target = Debugger.CreateTarget(
      Program.c_str(), Program.empty() ? TripleText : nullptr, nullptr,
      /*add_dependent_modules=*/false, Failed);
  if (Failed.Fail())
    return createStringError(Failed.GetCString());

  int Pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Pair))
    return createStringError(errnoAsErrorCode(), "cannot make a socket: %s",
                             sys::StrError().c_str());
  Result->Socket = Pair[1];
  Result->Session = std::make_unique<GdbSession>(T, Pair[1]);
  if (Error E = Result->Session->start(*Start)) {
    close(Pair[0]);
    Debugger.DeleteTarget(Target);
    return E;
  }
  // Ends when LLDB closes its end, and keeps the trace until then.
  std::thread([Keep = Result] {
    if (Error E = Keep->Session->serve())
      errs() << "chronicle: " << toString(std::move(E)) << '\n';
    shutdown(Keep->Socket, SHUT_RDWR);
  }).detach();

  Debugger.SetSelectedTarget(Target);
  // By LLDB's own command, because it waits for the first stop where commands
  // are run one after the other: SBTarget::ConnectRemote leaves that stop to
  // whoever handles events, who may still be at it when the next command moves
  // the process.
  lldb::SBCommandReturnObject Connected;
  std::string Connect =
      "process connect --plugin gdb-remote fd://" + std::to_string(Pair[0]);
  lldb::SBExecutionContext Context(Target);
  Debugger.GetCommandInterpreter().HandleCommand(Connect.c_str(), Context,
                                                 Connected);
  if (!Connected.Succeeded()) {
    shutdown(Result->Socket, SHUT_RDWR);
    Debugger.DeleteTarget(Target);
    return createStringError(Connected.GetError());
  }
  if (const char *Output = Connected.GetOutput())
    StopText = Output;
  // LLDB goes on backward after a reverse continue until somebody resets it.
  lldb::SBCommandReturnObject Silent;
  Debugger.GetCommandInterpreter().HandleCommand(
      "target stop-hook add -o \"chronicle _stopped\"", Context, Silent);
  Result->Process = Target.GetProcess();
  // LLDB would pass the signal it stopped for to the program, which cannot be
  // done backward, and need not be: all that were delivered are recorded.
  lldb::SBUnixSignals Signals = Result->Process.GetUnixSignals();
  for (int I = 0, N = Signals.GetNumSignals(); I < N; ++I)
    Signals.SetShouldSuppress(Signals.GetSignalAtIndex(I), true);
  std::lock_guard<std::mutex> Guard(RegistryLock);
  registry()[Result->Process.GetUniqueID()] = Result;
  Result->stopped();
  return Result;
}

LoadedTrace::~LoadedTrace() {
  if (Socket >= 0)
    close(Socket);
}

std::shared_ptr<LoadedTrace> LoadedTrace::of(lldb::SBDebugger Debugger) {
  lldb::SBProcess Process = Debugger.GetSelectedTarget().GetProcess();
  if (!Process.IsValid())
    return nullptr;
  std::lock_guard<std::mutex> Guard(RegistryLock);
  auto It = registry().find(Process.GetUniqueID());
  return It == registry().end() ? nullptr : It->second.lock();
}

void runReverse(lldb::SBDebugger Debugger,
                lldb::SBCommandReturnObject &Result) {
  // Into an object of its own: LLDB empties the one it is given.
  lldb::SBCommandReturnObject Continued;
  Debugger.GetCommandInterpreter().HandleCommand("process continue --reverse",
                                                 Continued);
  if (const char *Output = Continued.GetOutput())
    Result.PutCString(Output);
  if (Continued.Succeeded())
    Result.SetStatus(Continued.GetStatus());
  else
    Result.SetError(Continued.GetError());
}

void LoadedTrace::stopped() {
  Session->forgetJump();
  installHistoryUnwinders(Process, T, [This = weak_from_this()] {
    std::shared_ptr<LoadedTrace> L = This.lock();
    return L ? L->position() : Position();
  });
}

void LoadedTrace::jump(lldb::SBDebugger Debugger, Timestamp Time,
                       uint32_t Thread, std::string Description,
                       lldb::SBCommandReturnObject &Result) {
  Session->jumpNext(Time, Thread, std::move(Description));
  // LLDB only believes that time has passed if it let the process run.
  // Backward, because that discards whatever its threads were about to do.
  runReverse(Debugger, Result);
}

} // namespace chronicle
