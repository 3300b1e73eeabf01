// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tree/ProcessTree.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/TemporaryDirectory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::tree {

/// Few, because there may be hundreds of processes at once.
constexpr uint32_t RingChunks = 16;
/// A process that is recorded needs up to five descriptors, and what is beside
/// them a few dozen. Its recorder and its indexer need tens of megabytes.
constexpr size_t DescriptorsPerProcess = 6, OtherDescriptors = 64;
constexpr size_t BytesPerProcess = 32 << 20;
/// A process that was killed is gone at once, unless the machine hangs.
constexpr int KillMilliseconds = 5000;

/// A process that is being recorded.
struct ProcessTree::Member {
  ProcessResult Result;
  RunningProgram Program;
  int Handle = -1; ///< pidfd; not its own
  indexer::Indexer *Index = nullptr;
  bool Gone = false; ///< the indexer knows that the recorder is gone

  /// Ends the process, and waits for that.
  void kill() {
    syscall(SYS_pidfd_send_signal, Handle, SIGKILL, nullptr, 0);
    pollfd Ended = {Handle, POLLIN, 0};
    if (Handle >= 0)
      poll(&Ended, 1, KillMilliseconds);
    Gone = true;
    Index->recorderGone();
  }
};

static launch::OwnedDescriptor newEvent() {
  return launch::OwnedDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

static void signalEvent(int Event) {
  const uint64_t One = 1;
  ssize_t Ignored = write(Event, &One, sizeof(One));
  (void)Ignored;
}

ProcessTree::ProcessTree(launch::ControlSocket &Control, RunFiles &Files,
                         TreeOptions Options)
    : Control(Control), Files(Files), Options(std::move(Options)),
      WakeEvent(newEvent()), DoneEvent(newEvent()) {}

ProcessTree::~ProcessTree() {
  if (!Listener.joinable())
    return;
  if (!IsStarted)
    Started.set_value(false);
  kill();
  wait();
}

Error ProcessTree::prepare() {
  return Thread::start([this, Runs = Started.get_future()]() mutable {
           if (Runs.get())
             listen();
         })
      .moveInto(Listener);
}

/// How many processes can be recorded at the same time. The program has been
/// started, so the limit of open files is this process's own.
static size_t mostAtOnce() {
  const size_t ByMemory = size_t(sysconf(_SC_PHYS_PAGES)) *
                          size_t(sysconf(_SC_PAGESIZE)) / BytesPerProcess;
  rlimit Limit;
  if (getrlimit(RLIMIT_NOFILE, &Limit) != 0)
    return ByMemory;
  Limit.rlim_cur = Limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &Limit);
  getrlimit(RLIMIT_NOFILE, &Limit);
  const size_t Free =
      Limit.rlim_cur > OtherDescriptors ? Limit.rlim_cur - OtherDescriptors : 0;
  return std::min(Free / DescriptorsPerProcess, ByMemory);
}

void ProcessTree::start(pid_t Process, indexer::Indexer &Index) {
  FirstProcess = Process;
  First = &Index;
  MostAtOnce = mostAtOnce();
  Control.releaseRecordersEnds();
  IsStarted = true;
  Started.set_value(true);
}

void ProcessTree::wake() const { signalEvent(WakeEvent.get()); }

/// Takes requests, and notices when recorded processes end, until no recorder
/// is left or the processes were killed.
void ProcessTree::listen() {
  for (;;) {
    std::vector<pollfd> Poll{{Control.descriptor(), POLLIN, 0},
                             {WakeEvent.get(), POLLIN, 0}};
    {
      std::lock_guard Lock(Mutex);
      if (Killed)
        break;
      for (const Member &M : Members)
        if (!M.Gone)
          Poll.push_back({M.Handle, POLLIN, 0});
    }
    poll(Poll.data(), Poll.size(), -1);
    if (Poll[1].revents) {
      uint64_t Count;
      ssize_t Ignored = read(WakeEvent.get(), &Count, sizeof(Count));
      (void)Ignored;
    }
    {
      std::lock_guard Lock(Mutex);
      for (const pollfd &P : ArrayRef(Poll).drop_front(2))
        for (Member &M : Members)
          if (P.revents && M.Handle == P.fd) {
            M.Gone = true;
            M.Index->recorderGone();
          }
    }
    if (!Poll[0].revents)
      continue;
    std::optional<launch::OwnedDescriptor> Socket = Control.next();
    if (!Socket)
      break;
    serveOnThread(std::move(*Socket));
  }
  signalEvent(DoneEvent.get());
}

/// Without a thread for it, the program runs unrecorded.
void ProcessTree::serveOnThread(launch::OwnedDescriptor Socket) {
  joinFinished();
  auto Shared = std::make_shared<launch::OwnedDescriptor>(std::move(Socket));
  Server &New = Servers.emplace_back();
  Error E = Thread::start([this, &New, Shared] {
              serve(std::move(*Shared));
              New.Finished = true;
            }).moveInto(New.Runs);
  if (!E)
    return;
  Servers.pop_back();
  Expected<launch::ProcessRequest> Request =
      launch::ProcessRequest::read(std::move(*Shared));
  if (Request)
    return leaveOut(*Request, std::move(E));
  consumeError(Request.takeError());
  consumeError(std::move(E));
}

/// So that the threads of thousands of processes do not add up.
void ProcessTree::joinFinished() {
  for (auto S = Servers.begin(); S != Servers.end();)
    if (S->Finished) {
      S->Runs.join();
      S = Servers.erase(S);
    } else {
      ++S;
    }
}

void ProcessTree::leaveOut(const launch::ProcessRequest &Request, Error Why) {
  Request.refuse();
  std::lock_guard Lock(Mutex);
  std::string Program =
      Request.Kind == CH_CONTROL_FORK ? "a forked process" : Request.Path;
  Unrecorded.push_back(
      {Request.Process, std::move(Program), toString(std::move(Why))});
}

bool ProcessTree::isProcessOf(uint32_t Number, pid_t Process) const {
  if (Number == 1)
    return Process == FirstProcess;
  std::lock_guard Lock(Mutex);
  return any_of(Members, [&](const Member &M) {
    return M.Result.Number == Number && M.Result.Process == Process;
  });
}

/// The recorder of that trace is gone, since its process is another program.
void ProcessTree::replaced(uint32_t Number, pid_t Process) {
  std::lock_guard Lock(Mutex);
  if (Number == 1) {
    if (Process != FirstProcess)
      return;
    FirstReplaced = std::chrono::steady_clock::now();
    First->recorderGone();
    return;
  }
  for (Member &M : Members)
    if (M.Result.Number == Number && M.Result.Process == Process) {
      M.Gone = true;
      M.Index->recorderGone();
    }
}

void ProcessTree::serve(launch::OwnedDescriptor Socket) {
  Expected<launch::ProcessRequest> Request =
      launch::ProcessRequest::read(std::move(Socket));
  // The process is gone, or is no recorder of ours.
  if (!Request) {
    consumeError(Request.takeError());
    return;
  }
  record(*Request);
}

/// If it is not the one of this process, which was checked at the start.
static Error checkItsTemporaryDirectory(const launch::ProcessRequest &Request) {
  StringRef Directory;
  for (StringRef Variable : Request.Environment)
    if (Variable.consume_front("TMPDIR="))
      Directory = Variable;
  if (Directory == sys::Process::GetEnv("TMPDIR").value_or(""))
    return Error::success();
  SmallString<128> Absolute(Directory);
  if (!Absolute.empty())
    sys::path::make_absolute(Request.Directory, Absolute);
  return launch::checkTemporaryDirectory(Absolute);
}

Expected<RunningProgram>
ProcessTree::newProgram(const launch::ProcessRequest &Request) const {
  RunningProgram Program;
  // As the kernel would: no search.
  if (Error E = launch::findProgramFile(Request.Path, std::nullopt)
                    .moveInto(Program.File))
    return E;
  if (Error E = checkItsTemporaryDirectory(Request))
    return E;
  Program.Arguments = Request.Arguments;
  Program.Environment = Request.Environment;
  if (Options.Forks)
    Program.Archive = std::make_shared<family::DefinitionArchive>();
  return Program;
}

/// Waits until the parent's recording has come to the fork.
Expected<RunningProgram>
ProcessTree::forkedProgram(const launch::ProcessRequest &Request,
                           family::ForkPoint &At,
                           family::InheritedDefinitions &Inherited) const {
  RunningProgram Program;
  if (Request.Asker == 1) {
    Program = Options.First;
  } else {
    std::lock_guard Lock(Mutex);
    for (const Member &M : Members)
      if (M.Result.Number == Request.Asker)
        Program = M.Program;
  }
  std::optional<family::ForkPoint> Known;
  if (Program.Archive)
    Known = Program.Archive->takeFork(Request.Fork);
  if (!Known)
    return launch::launchError(
        launch::StatusOurFailure,
        "the recording of its parent ended before it was forked");
  At = std::move(*Known);
  Inherited = {Program.Archive, At.Exits};
  Program.Archive = std::make_shared<family::DefinitionArchive>(Inherited);
  return Program;
}

/// The number of a process that is to be recorded.
Expected<uint32_t> ProcessTree::takeNumber() {
  std::lock_guard Lock(Mutex);
  if (Stopped || Killed)
    return launch::launchError(launch::StatusOurFailure,
                               "the recording was being ended");
  if (Recorded >= MostAtOnce)
    return launch::launchError(launch::StatusOurFailure,
                               Twine(MostAtOnce) +
                                   " processes were being recorded, as many "
                                   "as memory and the limit of open files "
                                   "allow");
  ++Recorded;
  return NextNumber++;
}

ProcessTree::Member &ProcessTree::add(const launch::ProcessRequest &Request,
                                      RunningProgram Program, uint32_t Number,
                                      std::string Trace,
                                      indexer::Indexer &Index) {
  std::lock_guard Lock(Mutex);
  Member &M = Members.emplace_back();
  M.Result.Number = Number;
  M.Result.Process = Request.Process;
  M.Result.Program = Program.File.Path;
  M.Result.Trace = std::move(Trace);
  M.Program = std::move(Program);
  M.Index = &Index;
  M.Handle = Request.Handle.get();
  // Without a handle its end would not be noticed.
  if (Killed || M.Handle < 0)
    M.kill();
  return M;
}

void ProcessTree::record(launch::ProcessRequest &Request) {
  const bool Forked = Request.Kind == CH_CONTROL_FORK;
  family::ForkPoint At;
  family::InheritedDefinitions Inherited;
  Expected<uint32_t> Number = takeNumber();
  if (!Number)
    return leaveOut(Request, Number.takeError());
  scope_exit Done([&] {
    std::lock_guard Lock(Mutex);
    --Recorded;
  });
  Expected<RunningProgram> Program =
      Forked ? forkedProgram(Request, At, Inherited) : newProgram(Request);
  if (!Program)
    return leaveOut(Request, Program.takeError());
  Expected<launch::SharedRing> Ring =
      launch::SharedRing::create(Options.BlockInstructions, RingChunks);
  if (!Ring)
    return leaveOut(Request, Ring.takeError());
  Expected<launch::RecorderLog> Log = launch::RecorderLog::create();
  if (!Log)
    return leaveOut(Request, Log.takeError());
  const bool Replaced = !Forked && isProcessOf(Request.Asker, Request.Process);
  Expected<std::string> Trace = Files.add(*Number, Program->File.Path);
  if (!Trace)
    return leaveOut(Request, Trace.takeError());
  Expected<std::unique_ptr<indexer::Indexer>> Index =
      Options.MakeIndexer({Request,
                           *Program,
                           *Number,
                           Replaced,
                           Forked ? std::optional(At.Time) : std::nullopt,
                           At.Thread,
                           {Inherited, std::move(At.Stacks), Program->Archive},
                           *Trace},
                          *Ring);
  if (!Index)
    return leaveOut(Request, Index.takeError());
  // A forked process has its parent's translations.
  Error Granted =
      Request.grant(*Number, Ring->descriptor(), Log->descriptor(),
                    Forked ? ArrayRef<int>() : ArrayRef(Options.Translations));
  if (Granted || !Request.fulfilled()) {
    consumeError(std::move(Granted));
    Index->reset();
    (void)sys::fs::remove(*Trace);
    return;
  }
  Ring->closeDescriptor();
  Request.Socket.reset();
  if (Replaced)
    replaced(Request.Asker, Request.Process);
  Member &M = add(Request, std::move(*Program), *Number, *Trace, **Index);
  wake();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point Start = Clock::now();
  M.Index->run();
  M.Result.Seconds =
      std::chrono::duration<double>(Clock::now() - Start).count();
  finish(M, *Ring, Log->messages());
}

/// Writes the end of the trace and takes the process off the list.
void ProcessTree::finish(Member &M, const launch::SharedRing &Ring,
                         std::vector<std::string> Messages) {
  indexer::EndInfo End;
  End.Seconds = M.Result.Seconds;
  End.Process = M.Result.Process;
  // The recorder reports every end of the program but one by SIGKILL.
  End.Code = SIGKILL;
  if (launch::reportsFailure(Messages)) {
    End.Reason = "recorder-failed";
    End.Code = 0;
    End.Failure = "the recorder failed: " + launch::fatalMessage(Messages);
  }
  const bool Used = Ring.used();
  {
    std::lock_guard Lock(Mutex);
    if (Stopped)
      End.Reason = "stopped";
  }
  M.Result.Messages = std::move(Messages);
  M.Result.Translations = Ring.translations();
  Expected<indexer::IndexSummary> Summary = M.Index->finish(End);
  std::lock_guard Lock(Mutex);
  if (!Used || !Summary) {
    std::string Why = M.Result.Messages.empty()
                          ? "it ended before its first instruction"
                          : launch::fatalMessage(M.Result.Messages);
    if (!Summary)
      Why = toString(withoutTrace(M.Result.Trace, Summary.takeError()));
    else
      (void)sys::fs::remove(M.Result.Trace);
    Unrecorded.push_back({M.Result.Process, M.Result.Program, Why});
  } else {
    M.Result.Index = std::move(*Summary);
    Results.push_back(std::move(M.Result));
  }
  Members.remove_if([&](const Member &Other) { return &Other == &M; });
  wake();
}

std::optional<std::chrono::steady_clock::time_point>
ProcessTree::firstReplaced() const {
  std::lock_guard Lock(Mutex);
  return FirstReplaced;
}

size_t ProcessTree::running() const {
  std::lock_guard Lock(Mutex);
  return Members.size();
}

void ProcessTree::addProgress(indexer::IndexerProgress &Total) const {
  std::lock_guard Lock(Mutex);
  for (const ProcessResult &R : Results) {
    Total.Instructions += R.Index.Instructions;
    Total.FileBytes += R.Index.FileBytes;
  }
  for (const Member &M : Members) {
    const indexer::IndexerProgress &P = M.Index->progress();
    Total.Instructions += P.Instructions;
    Total.FileBytes += P.FileBytes;
    Total.Outputs += P.Outputs;
  }
}

void ProcessTree::requestStop() {
  std::lock_guard Lock(Mutex);
  Stopped = true;
  for (Member &M : Members)
    M.Index->requestStop();
}

void ProcessTree::kill() {
  {
    std::lock_guard Lock(Mutex);
    Stopped = Killed = true;
    for (Member &M : Members)
      M.kill();
  }
  wake();
}

void ProcessTree::wait() {
  if (Listener.joinable())
    Listener.join();
  // No new threads come, since only the listener makes them.
  for (Server &S : Servers)
    S.Runs.join();
  Servers.clear();
  llvm::sort(Results, [](const ProcessResult &A, const ProcessResult &B) {
    return A.Number < B.Number;
  });
}

} // namespace chronicle::tree
