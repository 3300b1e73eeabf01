// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tries/TryRunner.h"
#include "recorder/launch/LaunchError.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::tries {

namespace {
constexpr long TickNanoseconds = 200'000'000;
/// How long what a try leaves behind may take to end by itself.
constexpr unsigned PatienceMs = 300;
} // namespace

static Error runnerError(const Twine &What) {
  return launch::launchErrorFromErrno(launch::StatusOurFailure, What);
}

std::string TryRunner::tracePath(unsigned Number) const {
  return What.Trace + ".try-" + utostr(Number);
}

/// Gives the try its own view of a file that this process reads. What cannot be
/// read several times becomes empty.
static void installInput() {
  struct stat Info;
  int File = -1;
  if (fstat(STDIN_FILENO, &Info) == 0 && S_ISREG(Info.st_mode)) {
    const off_t Position = lseek(STDIN_FILENO, 0, SEEK_CUR);
    File = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (File >= 0)
      lseek(File, Position, SEEK_SET);
  }
  if (File < 0)
    File = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(File, STDIN_FILENO);
  close(File);
}

static void writeReport(int File, TryReport Report) {
  raw_fd_ostream Out(File, /*shouldClose=*/false);
  Out << json::Value(std::move(Report));
  Out.flush();
  // Without a report the try counts as failed.
  Out.clear_error();
}

Error TryRunner::start(Body Run) {
  const unsigned Number = Result.Runs.Started + 1;
  Expected<CapturedOutput> Output =
      CapturedOutput::create(sys::path::parent_path(What.Trace));
  if (!Output)
    return Output.takeError();
  const int Report = memfd_create("chronicle-try", MFD_CLOEXEC);
  if (Report < 0)
    return runnerError("cannot create a file in memory");
  const pid_t Parent = getpid();
  const pid_t Process = fork();
  if (Process == 0) {
    // Ctrl-C is for the parent, which ends all tries.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(launch::StatusOurFailure);
    sigaction(SIGCHLD, &OldChildAction, nullptr);
    pthread_sigmask(SIG_SETMASK, &OldMask, nullptr);
    installInput();
    Output->install();
    writeReport(Report, Run(Try{Number, tracePath(Number), &*Output}));
    _exit(0);
  }
  if (Process < 0) {
    Error E = runnerError("cannot create a process");
    close(Report);
    return E;
  }
  setpgid(Process, Process);
  ++Result.Runs.Started;
  Running.push_back({Number, Process, Report, std::move(*Output)});
  return Error::success();
}

Error TryRunner::keepTrace(unsigned Number, const std::string &Name) const {
  const std::string Path = tracePath(Number);
  if (std::error_code EC = sys::fs::rename(Path, Name))
    return launch::launchError(launch::StatusOurFailure,
                               "cannot rename '" + Path + "' to '" + Name +
                                   "': " + EC.message());
  return Error::success();
}

/// What the try wrote into this file, or an object with "error".
static TryReport readReport(int File, int Status) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer =
      MemoryBuffer::getOpenFile(File, "report", /*FileSize=*/-1);
  if (Buffer && !(*Buffer)->getBuffer().empty()) {
    Expected<json::Value> Value = json::parse((*Buffer)->getBuffer());
    if (Value && Value->getAsObject())
      return std::move(*Value->getAsObject());
    consumeError(Value.takeError());
  }
  const std::string How =
      WIFSIGNALED(Status) ? "was killed by signal " + utostr(WTERMSIG(Status))
                          : "ended with status " + utostr(WEXITSTATUS(Status));
  return TryReport{{"status", int(launch::StatusOurFailure)},
                   {"error", "the process of a try " + How +
                                 " and left no report: there may be too "
                                 "little memory for so many --jobs"}};
}

Error TryRunner::ended(Child C, int Status) {
  // What the program left running must not disturb the next try.
  kill(-C.Process, SIGKILL);
  TryReport Report = readReport(C.Report, Status);
  close(C.Report);
  ++Result.Runs.Ended;
  if (std::optional<StringRef> Text = Report.getString("error")) {
    (void)sys::fs::remove(tracePath(C.Number));
    return launch::launchError(
        launch::LaunchStatus(Report.getInteger("status").value_or(0)), *Text);
  }
  if (Report.getBoolean("timed-out").value_or(false))
    ++Result.Hung;
  if (Report.getBoolean("met").value_or(false)) {
    Result.Number = C.Number;
    Result.Report = std::move(Report);
    Result.Output = std::move(C.Output);
    return keepTrace(C.Number, What.Trace);
  }
  if (!What.Passing.empty()) {
    Result.HasPassing = true;
    return keepTrace(C.Number, What.Passing);
  }
  return Error::success();
}

/// Ends the tries that still run, and removes their traces.
void TryRunner::endAll() {
  // The companion of each try kills its program.
  for (const Child &C : Running)
    kill(C.Process, SIGKILL);
  for (const Child &C : Running) {
    sys::RetryAfterSignal(-1, ::waitpid, C.Process, nullptr, 0);
    for (unsigned Waited = 0; Waited < PatienceMs && !kill(-C.Process, 0);
         Waited += 10)
      usleep(10'000);
    kill(-C.Process, SIGKILL);
    close(C.Report);
    (void)sys::fs::remove(tracePath(C.Number));
  }
  Running.clear();
}

TryRunner::~TryRunner() { endAll(); }

/// The signals that end the tries, of those that do not end this process
/// because they are ignored.
static sigset_t endingSignals() {
  sigset_t Set;
  sigemptyset(&Set);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction Action;
    if (sigaction(Signal, nullptr, &Action) == 0 &&
        Action.sa_handler != SIG_IGN)
      sigaddset(&Set, Signal);
  }
  return Set;
}

Expected<TryResult>
TryRunner::run(Body Run, const std::function<void(TryProgress)> &Progress) {
  // If SIGCHLD is ignored, the kernel does not say how a try ended.
  struct sigaction Default = {};
  Default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &Default, &OldChildAction);
  sigset_t Awaited = endingSignals();
  sigaddset(&Awaited, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &Awaited, &OldMask);
  auto More = [&] {
    return What.Tries == 0 || Result.Runs.Started < What.Tries;
  };
  while (!Result.Number && !Result.Signal && (More() || !Running.empty())) {
    while (More() && Running.size() < What.Jobs)
      if (Error E = start(Run))
        return E;
    Progress(Result.Runs);
    const struct timespec Tick = {0, TickNanoseconds};
    const int Signal = sigtimedwait(&Awaited, nullptr, &Tick);
    if (Signal > 0 && Signal != SIGCHLD)
      Result.Signal = Signal;
    for (size_t I = 0; I < Running.size() && !Result.Number;) {
      int Status = 0;
      if (waitpid(Running[I].Process, &Status, WNOHANG) != Running[I].Process) {
        ++I;
        continue;
      }
      Child Done = std::move(Running[I]);
      Running.erase(Running.begin() + ptrdiff_t(I));
      if (Error E = ended(std::move(Done), Status))
        return E;
    }
  }
  Progress(Result.Runs);
  endAll();
  sigaction(SIGCHLD, &OldChildAction, nullptr);
  pthread_sigmask(SIG_SETMASK, &OldMask, nullptr);
  return std::move(Result);
}

} // namespace chronicle::tries
