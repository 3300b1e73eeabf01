// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How the launcher handles signals. The recorded program must not notice, so
/// the old state is restored in the child.

#ifndef CHRONICLE_RECORDER_LAUNCH_SIGNALSTATE_H
#define CHRONICLE_RECORDER_LAUNCH_SIGNALSTATE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <csignal>
#include <memory>
#include <sys/signalfd.h>
#include <utility>

namespace chronicle::launch {

/// While it exists, the signals that concern a launcher arrive through a
/// descriptor instead of interrupting or ending the process. It must be created
/// before any thread, because threads inherit the signal mask. Signals that
/// were ignored before (by nohup, or in a shell's background job) stay ignored.
class SignalState {
public:
  static llvm::Expected<std::unique_ptr<SignalState>> take();
  /// Restores mask and dispositions.
  ~SignalState();
  SignalState(const SignalState &) = delete;
  SignalState &operator=(const SignalState &) = delete;

  /// Becomes readable when a signal has arrived.
  int descriptor() const { return Descriptor; }
  /// Takes the next signal that has arrived. Returns false if there is none.
  bool next(signalfd_siginfo &Info) const;

  /// Restores mask and dispositions in the child. Async-signal-safe, as it must
  /// be between fork and exec.
  void restore() const;

private:
  SignalState() = default;
  int Descriptor = -1;
  sigset_t OldMask;
  llvm::SmallVector<std::pair<int, struct sigaction>, 4> OldActions;
};

} // namespace chronicle::launch

#endif
