// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Starts the recorder with the program in it and stays with it until the end:
/// passes signals on, follows job control, and learns how the program ended.

#ifndef CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H
#define CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H

#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/SignalState.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <cstdint>
#include <memory>
#include <sys/types.h>

namespace chronicle {

/// How the program's process ended. If it replaced itself by another program,
/// that is the other's end.
struct ProcessEnd {
  bool BySignal = false;
  int Code = 0; ///< exit status or signal
  uint64_t PeakKb = 0;
  /// A second interrupt ended the recording, and we the program.
  bool Interrupted = false;
};

/// What the supervisor tells while it waits; called on the waiting thread.
class SupervisorClient {
public:
  virtual ~SupervisorClient();
  /// Every interval given to wait().
  virtual void tick() {}
  /// The first interrupt came; the program has it too, and may go on.
  virtual void interrupted() {}
  /// A second interrupt came: ask the recorder to end the trace. The program is
  /// killed as soon as recordingEnded(), or when it does not happen in time.
  virtual void endRecording() {}
  virtual bool recordingEnded() { return true; }
  /// The terminal's user suspends us; clean it up.
  virtual void suspending() {}
};

class Supervisor {
public:
  /// Takes the signals over: make it before any thread is made.
  static llvm::Expected<std::unique_ptr<Supervisor>> create();

  /// Starts the recorder. Returns once it executes. The program gets the
  /// standard streams, terminal, process group, signals and descriptors that
  /// this process was started with; it dies if this process does.
  llvm::Error start(const RecorderCommand &Command);

  /// Waits for the end of the program. Uses no CPU time but for ticks; no ticks
  /// if Interval is zero. The process is reaped when this returns.
  ProcessEnd wait(SupervisorClient &Client, std::chrono::milliseconds Interval);

  pid_t process() const { return Process; }

private:
  Supervisor() = default;
  void handleSignal(const signalfd_siginfo &Info, SupervisorClient &Client);
  void handleInterrupt(SupervisorClient &Client);
  void suspend(SupervisorClient &Client);

  using Clock = std::chrono::steady_clock;
  std::unique_ptr<SignalState> Signals;
  pid_t Process = -1;
  unsigned Interrupts = 0;
  static constexpr Clock::time_point Never = Clock::time_point::max();
  Clock::time_point KillAt = Never;
  /// When to stop program and ourselves, after the terminal's user asked for
  /// it.
  Clock::time_point StopAt = Never;
};

/// Opens /dev/null for each standard stream that is closed, so that no file of
/// ours takes its place; the program still finds it closed.
void reserveStandardStreams();

/// Ends this process as the program ended: same status, or same signal without
/// a core dump of ours.
[[noreturn]] void endAs(const ProcessEnd &End);

} // namespace chronicle

#endif
