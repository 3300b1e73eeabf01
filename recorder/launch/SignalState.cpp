// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/SignalState.h"
#include "recorder/launch/LaunchError.h"
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

/// Changes the signal mask of the calling thread. The C library's functions
/// leave out two signals that it uses itself, which anyone can send.
static uint64_t changeMask(int How, uint64_t Signals) {
  uint64_t Old = 0;
  syscall(SYS_rt_sigprocmask, How, &Signals, &Old, sizeof(Signals));
  return Old;
}

static constexpr uint64_t bit(int Signal) { return 1ull << (Signal - 1); }

Expected<std::unique_ptr<SignalState>> SignalState::take() {
  std::unique_ptr<SignalState> State(new SignalState);
  uint64_t Wanted = ~(bit(SIGPIPE) | bit(SIGXFSZ));
  State->OldMask = changeMask(SIG_BLOCK, Wanted);

  auto Set = [&](int Signal, void (*Handler)(int)) {
    struct sigaction Action = {}, Old;
    Action.sa_handler = Handler;
    sigaction(Signal, &Action, &Old);
    State->OldActions.push_back({Signal, Old});
  };
  // If SIGCHLD is ignored, the kernel reaps the program and how it ended is
  // lost.
  Set(SIGCHLD, SIG_DFL);
  // A closed standard error or a file size limit are errors to report. They
  // must not kill this process, or the trace would be lost.
  Set(SIGPIPE, SIG_IGN);
  Set(SIGXFSZ, SIG_IGN);

  State->Descriptor = int(syscall(SYS_signalfd4, -1, &Wanted, sizeof(Wanted),
                                  SFD_CLOEXEC | SFD_NONBLOCK));
  if (State->Descriptor < 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot wait for signals");
  return State;
}

SmallVector<signalfd_siginfo, 8> SignalState::arrived() const {
  SmallVector<signalfd_siginfo, 8> Arrived;
  signalfd_siginfo Info;
  while (read(Descriptor, &Info, sizeof(Info)) == ssize_t(sizeof(Info)))
    Arrived.push_back(Info);
  return Arrived;
}

void SignalState::stopBy(int Signal) const {
  if (Signal != SIGSTOP) {
    struct sigaction Default = {};
    Default.sa_handler = SIG_DFL;
    sigaction(Signal, &Default, nullptr);
  }
  kill(getpid(), Signal);
  uint64_t Old = changeMask(SIG_UNBLOCK, bit(Signal));
  changeMask(SIG_SETMASK, Old);
}

void SignalState::restore() const {
  for (const auto &[Signal, Action] : OldActions)
    sigaction(Signal, &Action, nullptr);
  changeMask(SIG_SETMASK, OldMask);
}

SignalState::~SignalState() {
  // The program has ended, so signals that have arrived since are lost, as they
  // would be without us.
  if (Descriptor >= 0) {
    (void)arrived();
    close(Descriptor);
  }
  restore();
}

} // namespace chronicle::launch
