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
#include <cstdint>
#include <memory>
#include <sys/signalfd.h>
#include <utility>

namespace chronicle::launch {

/// While it exists, signals arrive through a descriptor instead of interrupting
/// or ending the process: all but SIGKILL and SIGSTOP, and but SIGPIPE and
/// SIGXFSZ, which are ignored. It must be created before any thread, because
/// threads inherit the signal mask.
class SignalState {
public:
  static llvm::Expected<std::unique_ptr<SignalState>> take();
  /// Restores mask and dispositions.
  ~SignalState();
  SignalState(const SignalState &) = delete;
  SignalState &operator=(const SignalState &) = delete;

  /// Becomes readable when a signal has arrived.
  int descriptor() const { return Descriptor; }
  /// Takes the signals that have arrived.
  llvm::SmallVector<signalfd_siginfo, 8> arrived() const;

  /// Stops this process as the signal does by default. Returns when it was
  /// continued.
  void stopBy(int Signal) const;

  /// Restores mask and dispositions in the child. Async-signal-safe, as it must
  /// be between fork and exec.
  void restore() const;

private:
  SignalState() = default;
  int Descriptor = -1;
  uint64_t OldMask = 0; ///< bit n - 1 is signal n
  llvm::SmallVector<std::pair<int, struct sigaction>, 4> OldActions;
};

} // namespace chronicle::launch

#endif
