// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A recorded run as a process that LLDB and gdb can debug: the stub side of
/// the gdb remote protocol.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_GDBSESSION_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_GDBSESSION_H

#include "lldb-plugin/diversion/Calls.h"
#include "lldb-plugin/session/DebuggerTraits.h"
#include "lldb-plugin/session/PacketChannel.h"
#include "lldb-plugin/session/ProcessQueries.h"
#include "lldb-plugin/session/RegisterLayout.h"
#include "lldb-plugin/session/TimeTravel.h"
#include <atomic>
#include <functional>
#include <mutex>

namespace chronicle::session {

/// Serves one debugger over one connected socket: reads its state, moves it,
/// and leaves to ProcessQueries what only describes the process. Calls of
/// functions run in a process of the moment (diversion::Calls); everything else
/// that would change the run is refused. Only one thread may be in serve().
/// Other threads may call jumpNext(), goBackNext(), runEnded(), interrupt(),
/// interruptNext(), forgetInterrupt(), forgetCall(), position() and finished()
/// meanwhile. A packet costs what the question behind it costs (query/Trace.h),
/// a resume a few searches by index.
class GdbSession {
public:
  /// Neither is owned.
  GdbSession(const query::Trace &T, int Socket)
      : T(T), Channel(Socket), Travel(T), Queries(T, Travel, Debugger),
        Called(T) {}

  /// Where the debugger finds the process when it connects.
  llvm::Error start(Timestamp Time);
  /// Returns when the debugger detaches, kills the process or goes away.
  llvm::Error serve();

  /// Makes the next resume, in whatever direction, arrive at a moment, with Why
  /// as its reason. This is how a command moves the process: a debugger only
  /// believes the reply to its own resume. Thread 0: the one that runs then.
  void jumpNext(Position To, Stop Why);
  /// The same for an earlier moment, with stops at breakpoints and watchpoints
  /// on the way. A debugger that does not want such a stop, because of a
  /// condition, resumes backward; that goes on to the same moment. When the
  /// debugger does stop on the way, runEnded() cancels the rest.
  void goBackNext(Position To, Stop Why);
  /// The debugger shows the stop that was reported last. Until then it may
  /// resume by itself.
  void runEnded();
  /// Ends the run, also while the debugger is at a stop in it that it does not
  /// show. False: no run has begun that has not ended by runEnded().
  bool interrupt();
  /// Makes the next resume stop at once. For a debugger that has begun a run
  /// whose first packet this session has not read yet.
  void interruptNext();
  /// Takes interruptNext() back. False: a run has begun, so that runEnded()
  /// will.
  bool forgetInterrupt();
  /// Whether an interrupt has not ended a run yet.
  bool isInterrupted() const;
  /// Throws away what the last call did to memory, which is kept for the
  /// debugger to show the call's result. False: there is nothing.
  bool forgetCall() { return KeepsCall.exchange(false); }
  bool keepsCall() const { return KeepsCall; }
  /// F is called on the session's thread before each stop is reported, the
  /// first one included. The debugger waits meanwhile and its threads do not
  /// change. Only before serve().
  void beforeEachStop(std::function<void()> F) { BeforeStop = std::move(F); }
  /// F is called on the session's thread when a call has returned and its
  /// memory is kept until forgetCall(). Only before serve().
  void afterEachCall(std::function<void()> F) { AfterCall = std::move(F); }
  /// Where the process is now.
  Position position() const;
  /// Whether the debugger has detached from the process or killed it. True even
  /// before the debugger has its reply.
  bool finished() const { return Finished; }

private:
  struct Jump {
    Position To;
    Stop Why;
    bool StopsOnTheWay = false;
  };

  std::string answer(llvm::StringRef Packet);
  std::string answerState(llvm::StringRef Packet);
  std::string answerMemory(llvm::StringRef Packet, bool Binary);
  std::string readRegisters(uint32_t Thread, std::optional<unsigned> Number);
  std::string writeRegisters(llvm::StringRef Packet, uint32_t Thread);
  std::string writeMemory(llvm::StringRef Packet, bool Binary);
  std::string answerAllocation(llvm::StringRef Packet);
  std::string answerSavedRegisters(llvm::StringRef Name, llvm::StringRef Rest);
  void prepareCall(uint32_t Thread);
  bool isBelowStack(uint64_t Address, uint64_t Length);
  /// Whether the debugger is to see memory as a call left it.
  bool showsCall(uint64_t Address, uint64_t Length) {
    return Debugger.IsLldb || Called.isPrepared() ||
           (Called.hasMemory() && isBelowStack(Address, Length));
  }
  /// The thread that a packet without a thread is about.
  uint32_t callingThread() const {
    return QueryThread ? QueryThread : Travel.position().Thread;
  }
  void leaveMoment();
  /// Whether the debugger's thread is in a call.
  bool inCall(uint32_t Thread) const;
  /// The registers of a thread, by their numbers in the layout.
  llvm::Expected<RegisterValues> valuesOf(uint32_t Thread);
  std::string resumeCall(llvm::StringRef Packet);
  /// Whether a packet resumes by one instruction.
  static bool isStep(llvm::StringRef Packet);
  llvm::Error checkCall();
  std::string answerQuery(llvm::StringRef Packet);
  std::string answerMonitor(llvm::StringRef Hex);
  std::string answerBreakpoint(llvm::StringRef Packet);
  std::string answerResume(llvm::StringRef Packet);
  std::string resume(llvm::StringRef Packet);
  /// Called at a resume: whether it belongs to a run that was interrupted.
  bool interruptedMeanwhile();
  /// Runs a search that the debugger and interrupt() can cancel.
  llvm::Expected<Stop>
  search(llvm::function_ref<llvm::Expected<Stop>(const answers::Cancellation &)>
             Run);
  void arrive(const Jump &By);
  std::string reportStop() {
    llvm::Expected<std::string> Reply =
        Called.isUnderWay() ? callStopPacket() : stopPacket();
    return Reply ? *Reply : Debugger.failure(Reply.takeError());
  }
  std::string reportArrival(Position Before);
  std::string stayAt(Position Before, llvm::Error Why);
  llvm::Expected<std::string> stopPacket();
  llvm::Expected<std::string> callStopPacket();

  const query::Trace &T;
  DebuggerTraits Debugger;
  PacketChannel Channel;
  TimeTravel Travel;
  ProcessQueries Queries;
  diversion::Calls Called;
  std::atomic<bool> KeepsCall = false; ///< the memory of a call that returned
  Stop LastStop;
  bool CannotGoOn = false; ///< the last resume started at the end of the run
  /// Replaces the debugger's own words for the last stop; empty: does not.
  std::string Description;
  uint32_t QueryThread = 0, ResumeThread = 0; ///< of the H packets; 0: any
  bool OwesStop = false; ///< the reply before named new modules instead
  bool StopsAcknowledging = false;
  std::atomic<bool> Finished = false;
  std::function<void()> BeforeStop, AfterCall;

  mutable std::mutex Lock; ///< guards the members below
  bool Running = false;    ///< from a resume to runEnded()
  bool WantsEnd = false;   ///< this run, or the next one, is to end
  answers::Cancellation *Searching = nullptr;
  std::optional<Jump> Next;
  Position Shown;
};

} // namespace chronicle::session

#endif
