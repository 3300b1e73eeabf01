// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "recorder/launch/SignalState.h"
#include "recorder/launch/LaunchError.h"
#include <pthread.h>
#include <unistd.h>

using namespace llvm;

namespace chronicle::launch {

Expected<std::unique_ptr<SignalState>> SignalState::take() {
  std::unique_ptr<SignalState> State(new SignalState);
  sigset_t Wanted;
  sigemptyset(&Wanted);
  for (int Signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2,
                     SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) {
    struct sigaction Action;
    sigaction(Signal, nullptr, &Action);
    if (Action.sa_handler != SIG_IGN)
      sigaddset(&Wanted, Signal);
  }
  sigaddset(&Wanted, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &Wanted, &State->OldMask);

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

  State->Descriptor = signalfd(-1, &Wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (State->Descriptor < 0)
    return launchErrorFromErrno(StatusOurFailure, "cannot wait for signals");
  return State;
}

bool SignalState::next(signalfd_siginfo &Info) const {
  return read(Descriptor, &Info, sizeof(Info)) == ssize_t(sizeof(Info));
}

void SignalState::restore() const {
  for (const auto &[Signal, Action] : OldActions)
    sigaction(Signal, &Action, nullptr);
  pthread_sigmask(SIG_SETMASK, &OldMask, nullptr);
}

SignalState::~SignalState() {
  if (Descriptor >= 0)
    close(Descriptor);
  restore();
}

} // namespace chronicle::launch
