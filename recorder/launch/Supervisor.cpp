// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/Supervisor.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

namespace {
/// How long the recorder may take to end the trace after a second interrupt. It
/// never does if the program is blocked in a system call.
constexpr std::chrono::milliseconds StopPatience(1500);
/// Valgrind ignores the signals that stop a process by default, so the program
/// is stopped with SIGSTOP. If the program has a handler, it gets this long to
/// restore the terminal first.
constexpr std::chrono::milliseconds StopGrace(100);
constexpr std::chrono::milliseconds StopPoll(20);
} // namespace

SupervisorClient::~SupervisorClient() = default;

Expected<std::unique_ptr<Supervisor>> Supervisor::create() {
  std::unique_ptr<Supervisor> S(new Supervisor);
  Expected<std::unique_ptr<SignalState>> Signals = SignalState::take();
  if (!Signals)
    return Signals.takeError();
  S->Signals = std::move(*Signals);
  return S;
}

/// Pointers to the strings and a null pointer, as execve expects them.
static std::vector<char *> pointers(const std::vector<std::string> &Strings) {
  std::vector<char *> Pointers;
  Pointers.reserve(Strings.size() + 1);
  for (const std::string &S : Strings)
    Pointers.push_back(const_cast<char *>(S.c_str()));
  Pointers.push_back(nullptr);
  return Pointers;
}

Error Supervisor::start(const RecorderCommand &Command) {
  // Everything that allocates comes before fork: after it only
  // async-signal-safe functions may be called, because there may be other
  // threads.
  std::vector<std::string> Line = Command.commandLine();
  std::vector<std::string> Environment = Command.environment();
  std::vector<char *> Argv = pointers(Line), Envp = pointers(Environment);
  int Report[2];
  if (pipe2(Report, O_CLOEXEC) != 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot create a pipe");
  pid_t Parent = getpid();
  Process = fork();
  if (Process < 0) {
    Error E = launchErrorFromErrno(StatusOurFailure, "cannot create a process");
    close(Report[0]);
    close(Report[1]);
    return E;
  }
  if (Process == 0) {
    // If this process dies the ring is not emptied any more, and the program
    // would wait for that forever.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(StatusOurFailure);
    fcntl(Command.RingDescriptor, F_SETFD, 0);
    fcntl(Command.LogDescriptor, F_SETFD, 0);
    Signals->restore();
    execve(Command.Tool.c_str(), Argv.data(), Envp.data());
    int Failure = errno;
    ssize_t Ignored = write(Report[1], &Failure, sizeof(Failure));
    (void)Ignored;
    _exit(StatusOurFailure);
  }
  close(Report[1]);
  int Failure = 0;
  ssize_t Size =
      sys::RetryAfterSignal(-1, ::read, Report[0], &Failure, sizeof(Failure));
  close(Report[0]);
  if (Size == ssize_t(sizeof(Failure))) {
    waitpid(Process, nullptr, 0);
    Process = -1;
    errno = Failure;
    return launchErrorFromErrno(
        StatusOurFailure, "cannot execute the recorder '" + Command.Tool + "'");
  }
  return Error::success();
}

/// The value of a field of /proc/<pid>/status, or empty.
static std::string processStatus(pid_t Process, StringRef Key) {
  auto Buffer =
      MemoryBuffer::getFileAsStream("/proc/" + Twine(Process) + "/status");
  if (Buffer)
    for (line_iterator Line(**Buffer), End; Line != End; ++Line)
      if (StringRef Value = *Line;
          Value.consume_front(Key) && Value.consume_front(":"))
        return Value.trim().str();
  return "";
}

static bool isStopped(pid_t Process) {
  return StringRef(processStatus(Process, "State")).starts_with("T");
}

static bool ignoresSignal(pid_t Process, int Signal) {
  uint64_t Mask = 0;
  StringRef(processStatus(Process, "SigIgn")).getAsInteger(16, Mask);
  return Mask >> (Signal - 1) & 1;
}

void Supervisor::handleInterrupt(SupervisorClient &Client) {
  ++Interrupts;
  if (Interrupts == 1) {
    Client.interrupted();
  } else if (Interrupts == 2) {
    Client.endRecording();
    KillAt = Clock::now() + StopPatience;
  } else {
    KillAt = Clock::now();
  }
}

void Supervisor::handleSignal(const signalfd_siginfo &Info,
                              SupervisorClient &Client) {
  int Signal = Info.ssi_signo;
  // Signals from the terminal go to the whole process group, so the program has
  // them already.
  bool FromTerminal = Info.ssi_code == SI_KERNEL;
  switch (Signal) {
  case SIGCHLD:
    return;
  case SIGCONT:
    // A shell continues the whole process group. Other senders may have
    // continued only this process, so the program is continued as well.
    usleep(10000);
    if (isStopped(Process))
      kill(Process, SIGCONT);
    return;
  case SIGTSTP:
  case SIGTTIN:
  case SIGTTOU:
    if (!ignoresSignal(Process, Signal))
      StopAt = Clock::now() + StopGrace;
    break;
  case SIGINT:
    handleInterrupt(Client);
    break;
  }
  if (!FromTerminal)
    kill(Process, Signal);
}

void Supervisor::suspend(SupervisorClient &Client) {
  StopAt = Never;
  Client.suspending();
  kill(getpid(), SIGSTOP);
}

ProcessEnd Supervisor::wait(SupervisorClient &Client,
                            std::chrono::milliseconds Interval) {
  ProcessEnd End;
  bool Ticking = Interval.count() > 0;
  Clock::time_point NextTick = Clock::now() + Interval;
  for (;;) {
    siginfo_t Info = {};
    struct rusage Usage = {};
    // The C library's waitid does not return the resource usage.
    long Result = syscall(SYS_waitid, P_PID, Process, &Info,
                          WEXITED | WSTOPPED | WNOHANG, &Usage);
    if (Result != 0 && errno != EINTR) {
      // This cannot happen, because nothing else waits for the child.
      End.BySignal = true;
      End.Code = SIGKILL;
      return End;
    }
    if (Result == 0 && Info.si_pid == Process) {
      if (Info.si_code == CLD_STOPPED || Info.si_code == CLD_TRAPPED) {
        // A debugger or a plain SIGSTOP stops only the program, and its sender
        // would not continue this process.
        if (StopAt != Never)
          suspend(Client);
      } else {
        End.BySignal = Info.si_code != CLD_EXITED;
        End.Code = Info.si_status;
        End.PeakKb = Usage.ru_maxrss;
        End.Interrupted = Interrupts >= 2 && End.BySignal;
        return End;
      }
    }

    bool Stopping = Interrupts >= 2;
    Clock::time_point Now = Clock::now();
    if (Stopping && (Now >= KillAt || Client.recordingEnded()))
      kill(Process, SIGKILL);
    if (Now >= StopAt)
      kill(Process, SIGSTOP);
    if (Ticking && Now >= NextTick) {
      Client.tick();
      NextTick = Now + Interval;
    }
    int Timeout = -1;
    if (Stopping || StopAt != Never)
      Timeout = StopPoll.count();
    else if (Ticking)
      Timeout =
          1 + std::max<int64_t>(
                  0, std::chrono::duration_cast<std::chrono::milliseconds>(
                         NextTick - Now)
                         .count());
    struct pollfd Poll = {Signals->descriptor(), POLLIN, 0};
    poll(&Poll, 1, Timeout);
    signalfd_siginfo Signal;
    while (Signals->next(Signal))
      handleSignal(Signal, Client);
  }
}

void reserveStandardStreams() {
  for (int Stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(Stream, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free descriptor is Stream, because those below it are open.
      int Opened = open("/dev/null", O_RDWR | O_CLOEXEC);
      (void)Opened;
    }
}

void endAs(const ProcessEnd &End) {
  if (!End.BySignal)
    _exit(End.Code);
  struct rlimit None = {0, 0};
  setrlimit(RLIMIT_CORE, &None);
  // The limit has no effect if the core pattern names a program.
  prctl(PR_SET_DUMPABLE, 0);
  int Signal = End.Interrupted ? SIGINT : End.Code;
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  sigaction(Signal, &Default, nullptr);
  sigset_t Only;
  sigemptyset(&Only);
  sigaddset(&Only, Signal);
  pthread_sigmask(SIG_UNBLOCK, &Only, nullptr);
  kill(getpid(), Signal);
  _exit(128 + Signal);
}

} // namespace chronicle::launch
