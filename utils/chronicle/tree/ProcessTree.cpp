// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tree/ProcessTree.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/RecorderLog.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <csignal>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::tree {

/// Few, because there may be hundreds of processes at once.
constexpr uint32_t RingChunks = 16;
/// A process that was killed is gone at once, unless the machine hangs.
constexpr int KillMilliseconds = 5000;

/// A process that is being recorded.
struct ProcessTree::Member {
  ProcessResult Result;
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
  kill();
  wait();
}

void ProcessTree::start(pid_t Process, indexer::Indexer &Index) {
  FirstProcess = Process;
  First = &Index;
  Control.releaseRecordersEnds();
  Listener = std::thread([this] { listen(); });
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
    std::lock_guard Lock(Mutex);
    Threads.emplace_back(
        [this, S = std::move(*Socket)]() mutable { serve(std::move(S)); });
  }
  signalEvent(DoneEvent.get());
}

void ProcessTree::leaveOut(const launch::ProcessRequest &Request, Error Why) {
  Request.refuse();
  std::lock_guard Lock(Mutex);
  Unrecorded.push_back(
      {Request.Process, Request.Path, toString(std::move(Why))});
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

void ProcessTree::record(const launch::ProcessRequest &Request) {
  // As the kernel would: no search.
  Expected<launch::ProgramFile> Program =
      launch::findProgramFile(Request.Path, std::nullopt);
  if (!Program)
    return leaveOut(Request, Program.takeError());
  Expected<launch::SharedRing> Ring =
      launch::SharedRing::create(Options.BlockInstructions, RingChunks);
  if (!Ring)
    return leaveOut(Request, Ring.takeError());
  Expected<launch::RecorderLog> Log = launch::RecorderLog::create();
  if (!Log)
    return leaveOut(Request, Log.takeError());
  const bool Replaced = isProcessOf(Request.Asker, Request.Process);
  uint32_t Number;
  {
    std::lock_guard Lock(Mutex);
    if (Stopped || Killed)
      return Request.refuse();
    Number = NextNumber++;
  }
  Expected<std::string> Trace = Files.add(Number, Program->Path);
  if (!Trace)
    return leaveOut(Request, Trace.takeError());
  Expected<std::unique_ptr<indexer::Indexer>> Index =
      Options.MakeIndexer({Request, *Program, Number, Replaced, *Trace}, *Ring);
  if (!Index)
    return leaveOut(Request, Index.takeError());
  Error Granted = Request.grant(Number, Ring->descriptor(), Log->descriptor(),
                                Options.Translations);
  if (Granted || !Request.fulfilled()) {
    consumeError(std::move(Granted));
    Index->reset();
    (void)sys::fs::remove(*Trace);
    return;
  }
  if (Replaced)
    replaced(Request.Asker, Request.Process);
  Member *M;
  {
    std::lock_guard Lock(Mutex);
    M = &Members.emplace_back();
    M->Result.Number = Number;
    M->Result.Process = Request.Process;
    M->Result.Program = Request.Path;
    M->Result.Trace = *Trace;
    M->Index = Index->get();
    M->Handle = Request.Handle.get();
    // Without a handle its end would not be noticed.
    if (Killed || M->Handle < 0)
      M->kill();
  }
  wake();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point Start = Clock::now();
  M->Index->run();
  M->Result.Seconds =
      std::chrono::duration<double>(Clock::now() - Start).count();
  finish(*M, *Ring, Log->messages());
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
      Why = toString(Summary.takeError());
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
  for (std::thread &T : Threads)
    T.join();
  Threads.clear();
  llvm::sort(Results, [](const ProcessResult &A, const ProcessResult &B) {
    return A.Number < B.Number;
  });
}

} // namespace chronicle::tree
