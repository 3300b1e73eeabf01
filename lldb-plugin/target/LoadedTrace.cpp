// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/LoadedTrace.h"
#include "lldb-plugin/lldb/HistoryUnwinder.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "lldb-plugin/session/GdbSession.h"
#include "lldb-plugin/session/ThreadNames.h"
#include "lldb-plugin/target/BookmarkList.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Resume.h"
#include "lldb-plugin/target/TerminalInterrupt.h"
#include "query/MomentText.h"
#include "query/answers/ReplayError.h"
#include "trace-format/Text.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <map>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle::target {

/// The traces of all debuggers, by LLDB's number of the process.
static std::mutex RegistryLock;
static std::map<uint32_t, std::weak_ptr<LoadedTrace>> &registry() {
  // Never destroyed: sessions may outlive the statics of this library.
  static auto *Registry = new std::map<uint32_t, std::weak_ptr<LoadedTrace>>();
  return *Registry;
}

Expected<session::Position> parseMoment(const query::Trace &T, StringRef Text,
                                        Timestamp Now) {
  Expected<std::optional<Timestamp>> Time = query::parseMoment(T, Text, Now);
  if (!Time)
    return Time.takeError();
  if (*Time)
    return session::Position{**Time, 0};
  Expected<BookmarkList> Marks = BookmarkList::of(T);
  if (!Marks)
    return Marks.takeError();
  if (const Bookmark *Mark = Marks->find(Text))
    return session::Position{Mark->Time, Mark->Thread};
  return query::invalidMoment(Text,
                              "+n or -n instructions from now, or a bookmark");
}

/// If replay cannot reach the moment, changes it to the last one of its block
/// that it can reach, and adds a sentence that says so.
static Error moveToReachable(const query::Trace &T, session::Position &Start,
                             std::vector<std::string> &Warnings) {
  return handleErrors(
      T.threadAt(Start.Time).takeError(), [&](const answers::ReplayError &E) {
        Warnings.push_back(
            formatv("moment {0} cannot be reached, so this is moment {1}: {2}. "
                    "Memory and registers shortly before it may be wrong, too.",
                    groupedDigits(Start.Time), groupedDigits(E.lastReached()),
                    E.message()));
        Start = {E.lastReached(), 0};
      });
}

namespace {
/// While it lives, a new process waits for answers as long as they take. LLDB
/// gives a remote process up after five seconds, in case the connection is
/// dead. Ours cannot be, and on a busy machine, or if much must be replayed, an
/// answer may take longer.
class Patience {
public:
  explicit Patience(lldb::SBDebugger Debugger)
      : Instance(Debugger.GetInstanceName()),
        Before(lldb::SBDebugger::GetInternalVariableValue(Setting, Instance)) {
    set("3600");
  }
  ~Patience() {
    if (Before.GetSize() == 1)
      set(Before.GetStringAtIndex(0));
  }
  Patience(const Patience &) = delete;
  Patience &operator=(const Patience &) = delete;

private:
  void set(const char *Seconds) {
    lldb::SBDebugger::SetInternalVariable(Setting, Seconds, Instance);
  }

  static constexpr const char *Setting =
      "plugin.process.gdb-remote.packet-timeout";
  const char *Instance; ///< LLDB never frees these names
  lldb::SBStringList Before;
};
} // namespace

Expected<std::shared_ptr<LoadedTrace>> LoadedTrace::connect(
    lldb::SBDebugger Debugger, std::shared_ptr<const query::Trace> T,
    Timestamp Start, ArrayRef<SourceMapping> SourceMap,
    std::vector<std::string> &Warnings, std::string &StopText) {
  std::shared_ptr<LoadedTrace> Result(new LoadedTrace());
  Result->T = std::move(T);
  std::string Program = programFile(*Result->T);
  lldb::SBError Failed;
  lldb::SBTarget Target = Debugger.CreateTarget(
      Program.c_str(), Program.empty() ? session::TargetTriple : nullptr,
      nullptr,
      /*add_dependent_modules=*/false, Failed);
  if (Failed.Fail())
    return createStringError(Failed.GetCString());

  int Pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Pair))
    return createStringError(errnoAsErrorCode(), "cannot make a socket: %s",
                             sys::StrError().c_str());
  Result->Socket = Pair[1];
  Result->Session = std::make_unique<session::GdbSession>(*Result->T, Pair[1]);
  std::vector<uint64_t> OsThreads;
  for (const answers::ThreadInfo &Each : Result->T->allThreads())
    OsThreads.push_back(Each.OsThread);
  Result->Session->beforeEachStop(
      internals::stopPreparation(Target, OsThreads));
  Result->Session->afterEachCall([Weak = Result->weak_from_this()] {
    if (std::shared_ptr<LoadedTrace> Loaded = Weak.lock())
      Loaded->forgetCallWhenShown();
  });
  if (Error E = Result->Session->start(Start)) {
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
  // The first stop shows its source already.
  if (Error E = addSourceMap(Target, *Result->T, SourceMap))
    Warnings.push_back(toString(std::move(E)));
  // This uses LLDB's own command because it waits for the first stop where
  // commands are run one after the other. SBTarget::ConnectRemote leaves that
  // stop to the thread that handles events, which may not be done with it when
  // the next command moves the process.
  lldb::SBCommandReturnObject Connected;
  std::string Connect =
      "process connect --plugin gdb-remote fd://" + std::to_string(Pair[0]);
  lldb::SBExecutionContext Context(Target);
  {
    Patience Long(Debugger);
    WaitForStops Wait(Debugger);
    Debugger.GetCommandInterpreter().HandleCommand(Connect.c_str(), Context,
                                                   Connected);
  }
  if (!Connected.Succeeded()) {
    shutdown(Result->Socket, SHUT_RDWR);
    Debugger.DeleteTarget(Target);
    return createStringError(Connected.GetError());
  }
  Result->Process = Target.GetProcess();
  if (const char *Output = Connected.GetOutput())
    StopText = stopText(Output, Result->Process);
  // LLDB would pass the signal it stopped for on to the program. That cannot be
  // done backward and is not needed: all delivered signals are recorded.
  lldb::SBUnixSignals Signals = Result->Process.GetUnixSignals();
  for (int I = 0, N = Signals.GetNumSignals(); I < N; ++I)
    Signals.SetShouldSuppress(Signals.GetSignalAtIndex(I), true);
  return Result;
}

Expected<std::shared_ptr<LoadedTrace>>
LoadedTrace::load(lldb::SBDebugger Debugger, StringRef Path,
                  const LoadOptions &How, std::vector<std::string> &Warnings,
                  std::string &StopText) {
  query::TraceOptions Options;
  Options.Files = How.Files;
  Expected<std::unique_ptr<query::Trace>> Opened =
      query::Trace::open(Path, std::move(Options));
  if (!Opened)
    return Opened.takeError();
  std::shared_ptr<const query::Trace> T = std::move(*Opened);
  Expected<session::Position> Start =
      parseMoment(*T, How.At, T->instructions());
  if (!Start)
    return Start.takeError();
  if (Error E = moveToReachable(*T, *Start, Warnings))
    return E;
  checkFiles(*T, Start->Time, Warnings);
  if (Error E = addDebugDirectories(Debugger, *T))
    Warnings.push_back(toString(std::move(E)));
  Expected<std::shared_ptr<LoadedTrace>> Result =
      connect(Debugger, T, Start->Time, How.SourceMap, Warnings, StopText);
  if (!Result)
    return Result.takeError();
  // After a reverse continue LLDB keeps going backward until the direction is
  // reset, which the stop hook does.
  lldb::SBCommandReturnObject Silent;
  lldb::SBExecutionContext Context((*Result)->Process.GetTarget());
  Debugger.GetCommandInterpreter().HandleCommand(
      "target stop-hook add -o _chronicle-stopped", Context, Silent);
  if (!Silent.Succeeded())
    Warnings.push_back(std::string("frames and the direction may be wrong "
                                   "after a move, since LLDB has no stop "
                                   "hook: ") +
                       Silent.GetError());
  {
    std::lock_guard<std::mutex> Guard(RegistryLock);
    registry()[(*Result)->Process.GetUniqueID()] = *Result;
  }
  onTerminalInterrupt(interruptAll);
  (*Result)->stopped();
  // What LLDB printed while it connected lacks the values that only the frames
  // from history have.
  lldb::SBStream Stop;
  if (!StopText.empty() &&
      (*Result)->Process.GetSelectedThread().GetStatus(Stop) && Stop.GetData())
    StopText = Stop.GetData();
  return Result;
}

Expected<std::shared_ptr<LoadedTrace>>
LoadedTrace::connectHidden(lldb::SBDebugger Debugger) const {
  std::vector<std::string> Known; // load() has reported them
  std::string Ignored;
  return connect(Debugger, T, position().Time, {}, Known, Ignored);
}

LoadedTrace::LoadedTrace() = default;

LoadedTrace::~LoadedTrace() {
  if (Socket >= 0)
    close(Socket);
}

session::Position LoadedTrace::position() const { return Session->position(); }

std::shared_ptr<LoadedTrace> LoadedTrace::of(lldb::SBDebugger Debugger) {
  lldb::SBProcess Process = Debugger.GetSelectedTarget().GetProcess();
  if (!Process.IsValid())
    return nullptr;
  return of(Process.GetUniqueID());
}

std::shared_ptr<LoadedTrace> LoadedTrace::of(uint32_t Process) {
  std::lock_guard<std::mutex> Guard(RegistryLock);
  auto It = registry().find(Process);
  if (It == registry().end())
    return nullptr;
  std::shared_ptr<LoadedTrace> Found = It->second.lock();
  // LLDB keeps a process that it has detached from or killed as long as its
  // target, and the state changes only when the event is handled.
  return Found && !Found->Session->finished() ? Found : nullptr;
}

uint32_t LoadedTrace::threadNumber(lldb::SBThread Thread) const {
  session::Position Here = position();
  const uint32_t Number =
      Thread.IsValid()
          ? session::threadNumber(*T, Thread.GetThreadID(), Here.Time)
          : 0;
  return Number ? Number : Here.Thread;
}

void LoadedTrace::goBack(session::Position To, session::Stop Why,
                         unsigned Hidden) {
  Session->goBackNext(To, Why);
  HideAt = {To.Time, Hidden};
}

void LoadedTrace::takeFramesFromHistory() {
  internals::installHistoryUnwinders(Process, T, [This = weak_from_this()] {
    std::shared_ptr<LoadedTrace> L = This.lock();
    return L ? L->position() : session::Position();
  });
}

/// Where no command of LLDB's shows the result, such as in lldb-dap, whoever
/// asked for it holds the lock of the API. One thread waits for it, and keeps
/// nothing of LLDB's alive meanwhile: LLDB may be about to end.
void LoadedTrace::forgetCallWhenShown() {
  if (Waiting.exchange(true))
    return;
  std::thread([Weak = weak_from_this()] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::shared_ptr<LoadedTrace> Loaded = Weak.lock();
      if (!Loaded || Loaded->Session->finished())
        return;
      lldb::SBMutex Mutex = Loaded->Process.GetTarget().GetAPIMutex();
      if (Loaded->Session->keepsCall()) {
        if (!Mutex.IsValid() || !Mutex.try_lock())
          continue;
        Loaded->forgetCall();
        Mutex.unlock();
      }
      // A call that returned since then found this thread waiting.
      Loaded->Waiting = false;
      if (!Loaded->Session->keepsCall() || Loaded->Waiting.exchange(true))
        return;
    }
  }).detach();
}

void LoadedTrace::forgetCall() {
  if (Session->forgetCall())
    internals::forgetMemory(Process);
}

void LoadedTrace::stopped() {
  Session->runEnded();
  forgetCall();
  takeFramesFromHistory();
  if (HideAt && HideAt->first == position().Time)
    internals::hideScopes(Process.GetSelectedThread(), HideAt->second);
  HideAt.reset();
}

bool LoadedTrace::interrupt() {
  if (Session->interrupt())
    return true;
  // LLDB says that the process runs as soon as it has sent the packet, which
  // the session may not have read yet. LLDB's own interrupt would end at the
  // first breakpoint then, whatever its condition.
  auto Runs = [this] {
    return lldb::SBDebugger::StateIsRunningState(Process.GetState());
  };
  if (!Runs())
    return false;
  Session->interruptNext();
  // If that run was over before the request, the request must not end the next
  // one.
  return Runs() || !Session->forgetInterrupt();
}

bool LoadedTrace::interruptAll() {
  std::vector<std::shared_ptr<LoadedTrace>> All;
  {
    std::lock_guard<std::mutex> Guard(RegistryLock);
    for (const auto &[Process, Weak] : registry())
      if (std::shared_ptr<LoadedTrace> Each = Weak.lock();
          Each && !Each->Session->finished() && !Each->Session->isInterrupted())
        All.push_back(std::move(Each));
  }
  bool Any = false;
  for (const std::shared_ptr<LoadedTrace> &Each : All)
    Any |= Each->interrupt();
  return Any;
}

void LoadedTrace::jump(lldb::SBDebugger Debugger, session::Position To,
                       session::Stop Why, lldb::SBCommandReturnObject &Result) {
  Session->jumpNext(To, Why);
  // LLDB only notices that time has passed if it let the process run. It runs
  // backward, which discards what LLDB's threads were about to do.
  runReverse(Debugger, Result);
}

Error LoadedTrace::jumpHidden(Timestamp Time, uint32_t Thread) {
  Session->jumpNext({Time, Thread}, {session::StopKind::Arrived});
  lldb::SBError Failed = Process.ContinueInDirection(lldb::eRunReverse);
  if (Failed.Fail())
    return createStringError(Failed.GetCString());
  if (Session->position().Time != Time)
    return createStringError("LLDB did not go to time " + groupedDigits(Time));
  takeFramesFromHistory();
  return Error::success();
}

} // namespace chronicle::target
