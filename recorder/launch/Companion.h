// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A small process that stands beside the launcher in its process group.

#ifndef CHRONICLE_RECORDER_LAUNCH_COMPANION_H
#define CHRONICLE_RECORDER_LAUNCH_COMPANION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <memory>
#include <sys/signalfd.h>
#include <sys/types.h>

namespace chronicle::launch {

/// The companion does what the launcher cannot do by itself:
/// - It receives the signals that are sent to the process group. A signal that
///   arrives at the launcher but not at the companion was sent to the launcher
///   alone. Nothing else tells the two apart.
/// - It kills the program when the launcher has died, so that the program needs
///   no parent-death signal for that, which it could see.
/// - It continues the stopped launcher when something else than the launcher's
///   parent has continued the program.
///
/// It does nothing until it is asked or the launcher ends.
class Companion {
public:
  /// Starts the process. All signals must be blocked already, so that the
  /// companion keeps them pending, and there must be no other threads yet.
  static llvm::Expected<std::unique_ptr<Companion>> start();
  /// Ends the process and reaps it.
  ~Companion();
  Companion(const Companion &) = delete;
  Companion &operator=(const Companion &) = delete;

  pid_t process() const { return Process; }

  /// Says that the calling process is the program. To be called in the child
  /// between fork and exec; async-signal-safe.
  void announceProgram() const;

  /// Which of the signals that arrived at this process were sent to the whole
  /// group (or to every process). Each signal must be asked about once, in the
  /// order of arrival.
  llvm::SmallVector<bool, 8>
  sentToGroup(llvm::ArrayRef<signalfd_siginfo> Arrived);

  /// While this is on, the companion sends SIGCONT to the launcher, again and
  /// again, once the program is not stopped any more. It looks every 20 ms.
  void wakeWhenProgramContinues(bool On);

private:
  /// A signal as the companion reports it.
  struct Signal {
    int Number, Code;
    pid_t Sender;
    bool operator==(const Signal &) const = default;
  };
  struct Seen {
    Signal What;
    std::chrono::steady_clock::time_point When;
  };
  struct Request {
    enum Kind { Program, ReportSignals, Watch, StopWatching } What;
    pid_t Process;
  };

  Companion() = default;
  [[noreturn]] static void run(int Requests, int Replies, pid_t Launcher);
  static void reportSignals(int Replies);
  void send(Request R) const;
  void collect();

  pid_t Process = -1;
  int Requests = -1, Replies = -1;
  /// Signals of the companion that no signal of the launcher has matched yet.
  llvm::SmallVector<Seen, 8> Unmatched;
};

} // namespace chronicle::launch

#endif
