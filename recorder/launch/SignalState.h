// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The launcher's own way with signals, which the recorded program must not
/// see: everything is as it was before in the child.

#ifndef CHRONICLE_RECORDER_LAUNCH_SIGNALSTATE_H
#define CHRONICLE_RECORDER_LAUNCH_SIGNALSTATE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <csignal>
#include <memory>
#include <sys/signalfd.h>
#include <utility>

namespace chronicle {

/// While it lives, the signals that concern a launcher arrive through a
/// descriptor instead of interrupting or ending the process. Make it before any
/// thread, because threads inherit the mask. Signals that were ignored when it
/// was made (nohup, a shell's background jobs) stay ignored.
class SignalState {
public:
  static llvm::Expected<std::unique_ptr<SignalState>> take();
  /// Gives back mask and dispositions.
  ~SignalState();
  SignalState(const SignalState &) = delete;
  SignalState &operator=(const SignalState &) = delete;

  /// Becomes readable when a signal is there.
  int descriptor() const { return Descriptor; }
  /// The next signal that came, or false.
  bool next(signalfd_siginfo &Info) const;

  /// For the child, between fork and exec: async-signal-safe.
  void restore() const;

private:
  SignalState() = default;
  int Descriptor = -1;
  sigset_t OldMask;
  llvm::SmallVector<std::pair<int, struct sigaction>, 4> OldActions;
};

} // namespace chronicle

#endif
