// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Starts the recorder, which runs the program, and stays with it until it
/// ends. To its parent, this process behaves as the program would: it passes
/// signals on, stops when the program stops, and ends as the program ends.

#ifndef CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H
#define CHRONICLE_RECORDER_LAUNCH_SUPERVISOR_H

#include "recorder/launch/Companion.h"
#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/SignalState.h"
#include "trace-format/Thread.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <sys/resource.h>
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
  /// The time limit was reached, and the supervisor killed the program.
  bool TimedOut = false;
};

/// What the supervisor reports while it waits. Called on the waiting thread.
class SupervisorClient {
public:
  virtual ~SupervisorClient();
  /// Called once per interval, as given to wait().
  virtual void tick() {}
  /// The first Ctrl-C was typed. The program got it too, and may go on.
  virtual void interrupted() {}
  /// Ctrl-C was typed again: the client asks the recorder to end the trace.
  /// The program is killed as soon as recordingEnded() returns true, or when
  /// that takes too long.
  virtual void endRecording() {}
  virtual bool recordingEnded() { return true; }
  /// This process is about to stop: the client must leave the terminal clean.
  virtual void suspending() {}
};

class Supervisor {
public:
  /// Takes over the handling of signals, so it must be created before any
  /// thread.
  static llvm::Expected<std::unique_ptr<Supervisor>> create();
  ~Supervisor();

  /// Starts the recorder and returns once it executes. The program gets the
  /// standard streams, terminal, process group, signal state, alarm and
  /// descriptors that this process was started with. It is killed if this
  /// process dies.
  llvm::Error start(const RecorderCommand &Command);

  /// Waits for the end of the program and reaps it. Uses no CPU time except for
  /// ticks. If Interval is zero there are no ticks.
  ProcessEnd wait(SupervisorClient &Client, std::chrono::milliseconds Interval);

  /// Lets wait() end the recording, and then the program, after this time.
  void setTimeLimit(std::chrono::milliseconds Limit) { TimeLimit = Limit; }

  /// After wait(): waits until Done becomes readable, which the processes that
  /// the program left behind are the reason for. Ticks as wait() does.
  /// \return false if a signal or the time limit asks this process to end
  /// first.
  bool waitForOthers(SupervisorClient &Client, int Done,
                     std::chrono::milliseconds Interval);

  pid_t process() const { return Process; }

private:
  Supervisor() = default;
  void handleSignals(SupervisorClient &Client);
  void handleInterrupt(SupervisorClient &Client);
  void endRecording(SupervisorClient &Client);
  void passOn(const signalfd_siginfo &Info);
  void stopBy(int Signal, SupervisorClient &Client);
  pid_t forkProgram(const std::function<void()> &InChild);
  void endParentThread();

  using Clock = std::chrono::steady_clock;
  std::unique_ptr<SignalState> Signals;
  std::unique_ptr<Companion> Beside;
  pid_t Process = -1;
  unsigned Interrupts = 0;
  bool Stopping = false; ///< the trace is being ended
  bool TimedOut = false;
  std::chrono::milliseconds TimeLimit{0}; ///< zero is without a limit
  Clock::time_point Deadline = Never;
  static constexpr Clock::time_point Never = Clock::time_point::max();
  Clock::time_point KillAt = Never;
  /// The thread that the kernel takes for the program's parent. It ends when
  /// the parent of this process ends, which sends the program the parent-death
  /// signal that it asked for.
  Thread ParentThread;
  std::promise<void> ParentThreadMayEnd;
  /// Becomes readable when the parent of this process ends; -1 if not known.
  int ParentHandle = -1;
  /// The parent-death signal that this process was started with, or 0.
  int ParentDeathSignal = 0;
  /// Of descriptors; this process has raised its own.
  struct rlimit OldDescriptorLimit = {};
};

/// Opens /dev/null for each standard stream that is closed, so that no other
/// file of this process takes its number. The program still finds it closed.
void reserveStandardStreams();

/// Ends this process as the program ended: with the same exit status, or by the
/// same signal but without a core dump. After the time limit the status is
/// StatusTimedOut.
[[noreturn]] void endAs(const ProcessEnd &End);

} // namespace chronicle::launch

#endif
