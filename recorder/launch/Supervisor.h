// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Starts the recorder, which runs the program, and stays with it until it
/// ends: passes signals on, takes part in job control, and finds out how the
/// program ended.

#ifndef CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H
#define CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H

#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/SignalState.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <cstdint>
#include <memory>
#include <sys/types.h>

namespace chronicle::launch {

/// How the program's process ended. If the program replaced itself by another
/// one, this is how that one ended.
struct ProcessEnd {
  bool BySignal = false;
  int Code = 0;        ///< exit status or signal
  uint64_t PeakKb = 0; ///< peak memory of the process
  /// A second interrupt ended the recording, and the supervisor killed the
  /// program.
  bool Interrupted = false;
};

/// What the supervisor reports while it waits. Called on the waiting thread.
class SupervisorClient {
public:
  virtual ~SupervisorClient();
  /// Called once per interval, as given to wait().
  virtual void tick() {}
  /// The first interrupt arrived. The program got it too, and may go on.
  virtual void interrupted() {}
  /// A second interrupt arrived: the client asks the recorder to end the trace.
  /// The program is killed as soon as recordingEnded() returns true, or when
  /// that takes too long.
  virtual void endRecording() {}
  virtual bool recordingEnded() { return true; }
  /// The user suspends the job: the client must leave the terminal clean.
  virtual void suspending() {}
};

class Supervisor {
public:
  /// Takes over the handling of signals, so it must be created before any
  /// thread.
  static llvm::Expected<std::unique_ptr<Supervisor>> create();

  /// Starts the recorder and returns once it executes. The program gets the
  /// standard streams, terminal, process group, signal state and descriptors
  /// that this process was started with. It is killed if this process dies.
  llvm::Error start(const RecorderCommand &Command);

  /// Waits for the end of the program and reaps it. Uses no CPU time except for
  /// ticks. If Interval is zero there are no ticks.
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
  /// When to stop the program and this process, after the user suspended the
  /// job.
  Clock::time_point StopAt = Never;
};

/// Opens /dev/null for each standard stream that is closed, so that no other
/// file of this process takes its number. The program still finds it closed.
void reserveStandardStreams();

/// Ends this process as the program ended: with the same exit status, or by the
/// same signal but without a core dump.
[[noreturn]] void endAs(const ProcessEnd &End);

} // namespace chronicle::launch

#endif
