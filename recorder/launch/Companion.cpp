// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/Companion.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

namespace {
/// Does not contain "chronicle", so that `pkill chronicle` signals the launcher
/// and not the companion.
constexpr const char Name[] = "rec-companion";
constexpr int WatchMilliseconds = 20;
/// The companion answers at once unless somebody stopped it.
constexpr int AnswerMilliseconds = 1000;
/// How long a signal of the companion may wait for the launcher's.
constexpr std::chrono::seconds Remembered(2);
} // namespace

static bool isStopSignal(int Number) {
  return Number == SIGTSTP || Number == SIGTTIN || Number == SIGTTOU;
}

/// Whether a process is stopped, by /proc/<pid>/stat. Async-signal-safe.
static bool isStopped(pid_t Process) {
  char Path[32], Text[256];
  snprintf(Path, sizeof(Path), "/proc/%d/stat", Process);
  int Fd = open(Path, O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return false;
  ssize_t Size = read(Fd, Text, sizeof(Text) - 1);
  close(Fd);
  if (Size <= 0)
    return false;
  Text[Size] = 0;
  // The state follows the name, which stands in parentheses and may have some.
  const char *NameEnd = strrchr(Text, ')');
  return NameEnd && NameEnd[1] == ' ' && NameEnd[2] == 'T';
}

Expected<std::unique_ptr<Companion>> Companion::start() {
  int ToCompanion[2], FromCompanion[2];
  if (pipe2(ToCompanion, O_CLOEXEC) != 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot create a pipe");
  if (pipe2(FromCompanion, O_CLOEXEC) != 0) {
    Error E = launchErrorFromErrno(StatusOurFailure, "cannot create a pipe");
    close(ToCompanion[0]);
    close(ToCompanion[1]);
    return E;
  }
  std::unique_ptr<Companion> C(new Companion);
  C->Requests = ToCompanion[1];
  C->Replies = FromCompanion[0];
  pid_t Launcher = getpid();
  C->Process = fork();
  if (C->Process == 0) {
    close(ToCompanion[1]);
    run(ToCompanion[0], FromCompanion[1], Launcher);
  }
  Error E = C->Process < 0 ? launchErrorFromErrno(StatusOurFailure,
                                                  "cannot create a process")
                           : Error::success();
  close(ToCompanion[0]);
  close(FromCompanion[1]);
  if (E)
    return E;
  return C;
}

Companion::~Companion() {
  if (Process > 0) {
    kill(Process, SIGKILL);
    sys::RetryAfterSignal(-1, waitpid, Process, nullptr, 0);
  }
  close(Requests);
  close(Replies);
}

void Companion::run(int Requests, int Replies, pid_t Launcher) {
  prctl(PR_SET_NAME, Name);
  // The program's streams must not stay open because of this process.
  int Low = std::min(Requests, Replies), High = std::max(Requests, Replies);
  if (Low > 0)
    syscall(SYS_close_range, 0, Low - 1, 0);
  if (High > Low + 1)
    syscall(SYS_close_range, Low + 1, High - 1, 0);
  syscall(SYS_close_range, High + 1, ~0u, 0);

  pid_t Program = -1;
  int ProgramHandle = -1;
  bool Watching = false;
  for (;;) {
    struct pollfd Poll = {Requests, POLLIN, 0};
    if (poll(&Poll, 1, Watching ? WatchMilliseconds : -1) == 0) {
      if (!isStopped(Program))
        kill(Launcher, SIGCONT);
      continue;
    }
    Request R;
    ssize_t Size = read(Requests, &R, sizeof(R));
    if (Size < 0 && errno == EINTR)
      continue;
    if (Size != ssize_t(sizeof(R))) {
      // The launcher has died. The handle names the program even if its number
      // was given to another process.
      if (ProgramHandle >= 0)
        syscall(SYS_pidfd_send_signal, ProgramHandle, SIGKILL, nullptr, 0);
      _exit(0);
    }
    switch (R.What) {
    case Request::Program:
      Program = R.Process;
      ProgramHandle = int(syscall(SYS_pidfd_open, Program, 0));
      break;
    case Request::ReportSignals:
      reportSignals(Replies);
      break;
    case Request::Watch:
      Watching = true;
      break;
    case Request::StopWatching:
      Watching = false;
      break;
    }
  }
}

/// Sends the signals that are pending and forgets them. A signal with number 0
/// ends the report.
void Companion::reportSignals(int Replies) {
  // The C library would leave out two signals that it uses itself.
  uint64_t All = ~0ull;
  struct timespec Now = {0, 0};
  Signal S = {};
  do {
    siginfo_t Info = {};
    long Number = syscall(SYS_rt_sigtimedwait, &All, &Info, &Now, sizeof(All));
    S = Number > 0 ? Signal{int(Number), Info.si_code, Info.si_pid} : Signal{};
    if (write(Replies, &S, sizeof(S)) != ssize_t(sizeof(S)))
      _exit(0);
  } while (S.Number);
}

void Companion::send(Request R) const {
  // This cannot block: the companion reads every request at once, and the pipe
  // holds hundreds of them.
  ssize_t Ignored = write(Requests, &R, sizeof(R));
  (void)Ignored;
}

void Companion::announceProgram() const { send({Request::Program, getpid()}); }

void Companion::wakeWhenProgramContinues(bool On) {
  send({On ? Request::Watch : Request::StopWatching, 0});
}

void Companion::collect() {
  send({Request::ReportSignals, 0});
  for (;;) {
    struct pollfd Poll = {Replies, POLLIN, 0};
    if (sys::RetryAfterSignal(-1, poll, &Poll, 1, AnswerMilliseconds) <= 0)
      return;
    Signal S;
    if (sys::RetryAfterSignal(-1, read, Replies, &S, sizeof(S)) !=
            ssize_t(sizeof(S)) ||
        !S.Number)
      return;
    Unmatched.push_back({S, std::chrono::steady_clock::now()});
  }
}

SmallVector<bool, 8>
Companion::sentToGroup(ArrayRef<signalfd_siginfo> Arrived) {
  // The kernel sends to the members of a group one after another, under a lock
  // that this call takes as well. So a signal to the group has arrived at the
  // companion, too. The call changes nothing.
  setpgid(0, getpgrp());
  collect();
  // Pending signals of the same number count as one, so the companion may have
  // seen more of them than the launcher.
  erase_if(Unmatched, [Now = std::chrono::steady_clock::now()](const Seen &S) {
    return Now - S.When > Remembered;
  });
  auto Take = [&](const Signal &S) {
    auto Found =
        find_if(Unmatched, [&](const Seen &Other) { return Other.What == S; });
    if (Found == Unmatched.end())
      return false;
    Unmatched.erase(Found);
    return true;
  };
  // SIGCONT and the signals that stop a process discard each other while they
  // are pending.
  auto WasDiscarded = [&](const Signal &S) {
    return any_of(Unmatched, [&](const Seen &Other) {
      return Other.What.Sender == S.Sender &&
             (isStopSignal(S.Number)
                  ? Other.What.Number == SIGCONT
                  : S.Number == SIGCONT && isStopSignal(Other.What.Number));
    });
  };
  SmallVector<bool, 8> Result;
  for (const signalfd_siginfo &Info : Arrived) {
    Signal S = {int(Info.ssi_signo), Info.ssi_code, pid_t(Info.ssi_pid)};
    Result.push_back(Take(S) || WasDiscarded(S));
  }
  return Result;
}

} // namespace chronicle::launch
