// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/Supervisor.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

namespace {
/// How long the recorder may take to end the trace after a second interrupt. It
/// never does if the program is blocked in a system call.
constexpr std::chrono::milliseconds StopPatience(1500);
constexpr std::chrono::milliseconds StopPoll(20);
} // namespace

SupervisorClient::~SupervisorClient() = default;

Expected<std::unique_ptr<Supervisor>> Supervisor::create() {
  std::unique_ptr<Supervisor> S(new Supervisor);
  Expected<std::unique_ptr<SignalState>> Signals = SignalState::take();
  if (!Signals)
    return Signals.takeError();
  S->Signals = std::move(*Signals);
  Expected<std::unique_ptr<Companion>> Beside = Companion::start();
  if (!Beside)
    return Beside.takeError();
  S->Beside = std::move(*Beside);

  // Following many processes takes many descriptors.
  getrlimit(RLIMIT_NOFILE, &S->OldDescriptorLimit);
  struct rlimit All = {S->OldDescriptorLimit.rlim_max,
                       S->OldDescriptorLimit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &All);

  // What happens when the parent ends concerns the program: see ParentThread.
  prctl(PR_GET_PDEATHSIG, &S->ParentDeathSignal);
  prctl(PR_SET_PDEATHSIG, 0);
  pid_t Parent = getppid();
  S->ParentHandle = int(syscall(SYS_pidfd_open, Parent, 0));
  if (getppid() != Parent && S->ParentHandle >= 0) {
    close(S->ParentHandle);
    S->ParentHandle = -1;
  }
  return S;
}

Supervisor::~Supervisor() {
  endParentThread();
  if (ParentHandle >= 0)
    close(ParentHandle);
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

/// Forks on a thread of its own, which then waits for endParentThread().
/// Returns what fork returned, with its errno.
pid_t Supervisor::forkProgram(const std::function<void()> &InChild) {
  endParentThread();
  std::promise<std::pair<pid_t, int>> Forked;
  std::future<std::pair<pid_t, int>> Result = Forked.get_future();
  ParentThreadMayEnd = std::promise<void>();
  Error E = Thread::start([&, MayEnd = ParentThreadMayEnd.get_future()] {
              pid_t Child = fork();
              if (Child == 0)
                InChild();
              // The caller's variables may be gone after this.
              Forked.set_value({Child, errno});
              MayEnd.wait();
            }).moveInto(ParentThread);
  if (E) {
    errno = errorToErrorCode(std::move(E)).value();
    return -1;
  }
  auto [Child, Failure] = Result.get();
  errno = Failure;
  return Child;
}

void Supervisor::endParentThread() {
  if (!ParentThread.joinable())
    return;
  ParentThreadMayEnd.set_value();
  ParentThread.join();
}

Error Supervisor::start(const RecorderCommand &Command) {
  // Everything that allocates comes before fork: after it only
  // async-signal-safe functions may be called, because there may be other
  // threads.
  std::vector<std::string> Line = Command.commandLine();
  std::vector<std::string> Environment = Command.environment();
  std::vector<char *> Argv = pointers(Line), Envp = pointers(Environment);
  const std::vector<int> Descriptors = Command.descriptors();
  int Report[2];
  if (pipe2(Report, O_CLOEXEC) != 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot create a pipe");
  pid_t Parent = getpid();
  // An alarm survives exec, but not fork.
  struct itimerval Alarm = {}, None = {};
  setitimer(ITIMER_REAL, &None, &Alarm);
  Process = forkProgram([&] {
    // If the launcher dies the ring is not emptied any more, and the program
    // would wait for that forever. The companion kills it then.
    Beside->announceProgram();
    prctl(PR_SET_PDEATHSIG, ParentDeathSignal);
    if (getppid() != Parent)
      _exit(StatusOurFailure);
    setitimer(ITIMER_REAL, &Alarm, nullptr);
    for (int Descriptor : Descriptors)
      fcntl(Descriptor, F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &OldDescriptorLimit);
    Signals->restore();
    execve(Command.Tool.c_str(), Argv.data(), Envp.data());
    int Failure = errno;
    ssize_t Ignored = write(Report[1], &Failure, sizeof(Failure));
    (void)Ignored;
    _exit(StatusOurFailure);
  });
  if (Process < 0) {
    Error E = launchErrorFromErrno(StatusOurFailure, "cannot create a process");
    close(Report[0]);
    close(Report[1]);
    return E;
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
  if (Command.Inherited)
    Command.Inherited->release();
  return Error::success();
}

void Supervisor::handleInterrupt(SupervisorClient &Client) {
  ++Interrupts;
  if (Interrupts == 1) {
    Client.interrupted();
  } else if (!Stopping) {
    endRecording(Client);
  } else {
    KillAt = Clock::now();
  }
}

/// Asks for the end of the trace, after which the program is killed.
void Supervisor::endRecording(SupervisorClient &Client) {
  Stopping = true;
  Client.endRecording();
  KillAt = Clock::now() + StopPatience;
}

/// Sends the program a signal that was sent to this process alone. Its sender
/// knows this process only, and means the program.
void Supervisor::passOn(const signalfd_siginfo &Info) {
  if (Info.ssi_code != SI_QUEUE) {
    kill(Process, int(Info.ssi_signo));
    return;
  }
  siginfo_t Same = {};
  Same.si_signo = int(Info.ssi_signo);
  Same.si_code = SI_QUEUE;
  Same.si_pid = pid_t(Info.ssi_pid);
  Same.si_uid = Info.ssi_uid;
  // This is a union with si_int.
  Same.si_ptr = reinterpret_cast<void *>(Info.ssi_ptr);
  syscall(SYS_rt_sigqueueinfo, Process, Same.si_signo, &Same);
}

void Supervisor::handleSignals(SupervisorClient &Client) {
  SmallVector<signalfd_siginfo, 8> Arrived = Signals->arrived();
  erase_if(Arrived, [&](const signalfd_siginfo &Info) {
    bool FromChild = Info.ssi_signo == SIGCHLD && Info.ssi_code >= CLD_EXITED &&
                     Info.ssi_code <= CLD_CONTINUED;
    bool FromCompanion = pid_t(Info.ssi_pid) == Beside->process();
    return FromChild || FromCompanion;
  });
  if (Arrived.empty())
    return;
  SmallVector<bool, 8> ToGroup = Beside->sentToGroup(Arrived);
  for (auto [Info, ProgramHasIt] : zip_equal(Arrived, ToGroup)) {
    if (Info.ssi_signo == SIGINT && Info.ssi_code == SI_KERNEL)
      handleInterrupt(Client);
    // The program is in the group, unless it left it. Then it would not have
    // got the signal without us either.
    if (!ProgramHasIt)
      passOn(Info);
  }
}

/// Stops this process as the program was stopped, so that the parent sees it.
/// It is continued by the same SIGCONT as the program, or passes that on.
void Supervisor::stopBy(int Signal, SupervisorClient &Client) {
  Client.suspending();
  Beside->wakeWhenProgramContinues(true);
  Signals->stopBy(Signal);
  Beside->wakeWhenProgramContinues(false);
}

/// A timeout for poll(), which rounds it down to milliseconds.
static int untilThen(std::chrono::steady_clock::duration Time) {
  const int64_t Ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Time).count();
  return int(1 + std::clamp<int64_t>(Ms, 0, 1'000'000'000));
}

ProcessEnd Supervisor::wait(SupervisorClient &Client,
                            std::chrono::milliseconds Interval) {
  ProcessEnd End;
  bool Ticking = Interval.count() > 0;
  Clock::time_point NextTick = Clock::now() + Interval;
  if (TimeLimit.count() > 0)
    Deadline = Clock::now() + TimeLimit;
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
      if (Info.si_code == CLD_STOPPED) {
        stopBy(Info.si_status, Client);
      } else {
        End.BySignal = Info.si_code != CLD_EXITED;
        End.Code = Info.si_status;
        End.PeakKb = Usage.ru_maxrss;
        End.TimedOut = TimedOut && End.BySignal;
        End.Interrupted = Stopping && !TimedOut && End.BySignal;
        endParentThread();
        return End;
      }
    }

    Clock::time_point Now = Clock::now();
    if (Now >= Deadline && !Stopping) {
      TimedOut = true;
      endRecording(Client);
    }
    if (Stopping && (Now >= KillAt || Client.recordingEnded()))
      kill(Process, SIGKILL);
    if (Ticking && Now >= NextTick) {
      Client.tick();
      NextTick = Now + Interval;
    }
    const Clock::time_point Next =
        Stopping ? Now + StopPoll
                 : std::min(Deadline, Ticking ? NextTick : Never);
    struct pollfd Poll[] = {{Signals->descriptor(), POLLIN, 0},
                            {ParentHandle, POLLIN, 0}};
    poll(Poll, 2, Next == Never ? -1 : untilThen(Next - Now));
    if (Poll[1].revents) {
      endParentThread();
      close(ParentHandle);
      ParentHandle = -1;
    }
    handleSignals(Client);
  }
}

bool Supervisor::waitForOthers(SupervisorClient &Client, int Done,
                               std::chrono::milliseconds Interval) {
  for (;;) {
    struct pollfd Poll[] = {{Signals->descriptor(), POLLIN, 0},
                            {Done, POLLIN, 0}};
    const Clock::time_point Now = Clock::now();
    const Clock::time_point Next =
        std::min(Deadline, Interval.count() > 0 ? Now + Interval : Never);
    poll(Poll, 2, Next == Never ? -1 : untilThen(Next - Now));
    if (Poll[1].revents)
      return true;
    if (Clock::now() >= Deadline)
      return false;
    Client.tick();
    for (const signalfd_siginfo &Info : Signals->arrived())
      switch (Info.ssi_signo) {
      case SIGINT:
      case SIGTERM:
      case SIGHUP:
      case SIGQUIT:
        return false;
      case SIGTSTP:
      case SIGTTIN:
      case SIGTTOU:
        Client.suspending();
        Signals->stopBy(int(Info.ssi_signo));
        break;
      default:
        break;
      }
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
  if (End.TimedOut)
    _exit(StatusTimedOut);
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
