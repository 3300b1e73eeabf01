// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/dap/LldbDap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace chronicle::dap {

Expected<std::string> findLldbDap(StringRef Asked) {
  if (Asked.empty())
    if (const char *Named = getenv("CHRONICLE_LLDB_DAP"))
      Asked = Named;
  if (!Asked.empty()) {
    ErrorOr<std::string> Found = sys::findProgramByName(Asked);
    if (Found && sys::fs::can_execute(*Found))
      return *Found;
    return createStringError("cannot run '" + Asked.str() +
                             "': --lldb-dap (or CHRONICLE_LLDB_DAP) must name "
                             "LLDB 22's lldb-dap");
  }
  for (StringRef Name :
       {"lldb-dap-22", "/usr/lib/llvm-22/bin/lldb-dap", "lldb-dap"})
    if (ErrorOr<std::string> Found = sys::findProgramByName(Name);
        Found && sys::fs::can_execute(*Found))
      return *Found;
  return createStringError(
      "lldb-dap was not found: install LLDB 22 (on Debian, "
      "the package lldb-22), or name it with --lldb-dap");
}

/// Turns the forked child into lldb-dap. Calls only what is safe after fork.
[[noreturn]] static void become(const char *const *Words, int Input, int Output,
                                pid_t Parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != Parent) // the parent died before the prctl call
    _exit(1);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  if (dup2(Input, 0) >= 0 && dup2(Output, 1) >= 0)
    execv(Words[0], const_cast<char *const *>(Words));
  dprintf(2, "chronicle-dap: cannot start %s: %s\n", Words[0], strerror(errno));
  _exit(127);
}

Expected<LldbDap> LldbDap::start(StringRef Program,
                                 ArrayRef<std::string> Arguments) {
  std::string Name = Program.str();
  SmallVector<const char *, 16> Words = {Name.c_str()};
  for (const std::string &Word : Arguments)
    Words.push_back(Word.c_str());
  Words.push_back(nullptr);
  int To[2], From[2];
  if (pipe2(To, O_CLOEXEC))
    return createStringError("cannot make a pipe: " + sys::StrError());
  if (pipe2(From, O_CLOEXEC)) {
    std::string Why = sys::StrError();
    close(To[0]);
    close(To[1]);
    return createStringError("cannot make a pipe: " + Why);
  }
  pid_t Self = getpid();
  pid_t Pid = fork();
  if (Pid == 0)
    become(Words.data(), To[0], From[1], Self);
  close(To[0]);
  close(From[1]);
  if (Pid < 0) {
    std::string Why = sys::StrError();
    close(To[1]);
    close(From[0]);
    return createStringError("cannot start " + Name + ": " + Why);
  }
  return LldbDap(Pid, To[1], From[0]);
}

LldbDap::LldbDap(LldbDap &&Other)
    : Pid(std::exchange(Other.Pid, -1)), Input(std::exchange(Other.Input, -1)),
      Output(std::exchange(Other.Output, -1)), Status(Other.Status) {}

LldbDap::~LldbDap() {
  end(0);
  if (Output >= 0)
    close(Output);
}

void LldbDap::closeInput() {
  if (Input >= 0)
    close(std::exchange(Input, -1));
}

int LldbDap::end(int Seconds) {
  using namespace std::chrono;
  closeInput();
  if (Pid < 0)
    return Status;
  auto Waited = [&](seconds Limit) {
    auto Until = steady_clock::now() + Limit;
    while (true) {
      pid_t Reaped = waitpid(Pid, &Status, WNOHANG);
      if (Reaped == Pid || (Reaped < 0 && errno != EINTR))
        return true;
      if (steady_clock::now() >= Until)
        return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
  };
  if (!Waited(seconds(Seconds))) {
    kill(Pid, SIGTERM);
    if (!Waited(seconds(2))) {
      kill(Pid, SIGKILL);
      waitpid(Pid, &Status, 0);
    }
  }
  Pid = -1;
  return Status;
}

std::string describeStatus(int Status) {
  if (WIFSIGNALED(Status)) {
    const char *Name = sigabbrev_np(WTERMSIG(Status));
    return Name ? formatv("was killed by SIG{0}", Name).str()
                : formatv("was killed by signal {0}", WTERMSIG(Status)).str();
  }
  return formatv("ended with status {0}", WEXITSTATUS(Status));
}

} // namespace chronicle::dap
