// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A recorded run as a process that LLDB and gdb can debug: the stub side of
/// the gdb remote protocol.

#ifndef CHRONICLE_LLDB_PLUGIN_GDBSESSION_H
#define CHRONICLE_LLDB_PLUGIN_GDBSESSION_H

#include "lldb-plugin/PacketChannel.h"
#include "lldb-plugin/ProcessImage.h"
#include "lldb-plugin/TimeTravel.h"
#include <atomic>
#include <functional>
#include <mutex>

namespace chronicle {

/// Serves one debugger over one connected socket. Everything that would change
/// the run is refused. Only one thread may be in serve(); jumpNext(),
/// position() may be called from others meanwhile. A packet costs what the
/// question behind it costs (query/Trace.h), a resume a few searches by index.
class GdbSession {
public:
  /// Neither is owned.
  GdbSession(const Trace &T, int Socket)
      : T(T), Channel(Socket), Travel(T), Image(T) {}

  /// Where the debugger finds the process when it connects.
  llvm::Error start(Timestamp Time);
  /// Until the debugger detaches, kills the process or goes away.
  llvm::Error serve();

  /// Makes the next resume, in whatever direction, arrive at Time instead. This
  /// is how somebody other than the debugger moves: a debugger believes only
  /// what it hears in answer to a resume. Thread 0: the one that runs then.
  void jumpNext(Timestamp Time, uint32_t Thread, std::string Description);
  /// The same for an earlier moment, with stops at breakpoints and watchpoints
  /// on the way. A debugger that does not want such a stop, because of a
  /// condition, resumes backward; that goes on to Time too. When the debugger
  /// does stop on the way, runEnded() ends this.
  void goBackNext(Timestamp Time, uint32_t Thread, std::string Description);
  /// The debugger shows the stop that it was told of last. Until then it
  /// resumes by itself.
  void runEnded();
  /// Whether it does now.
  bool isRunning() const;
  /// Ends the run, also if the debugger is at one of the stops in it that it
  /// does not show.
  void interrupt();
  /// Lets LLDB have files that are other builds than those recorded. Before
  /// the session is served.
  void takeAnyBuild() { AnyBuild = true; }
  /// Called on the session's thread before the debugger is told of a stop, the
  /// first one included: the debugger waits, its threads are as they were.
  /// Before the session is served.
  void beforeEachStop(std::function<void()> F) { BeforeStop = std::move(F); }
  /// Where the process is now.
  Position position() const;
  /// Whether the debugger has detached from the process or killed it: known
  /// here before it has its answer.
  bool finished() const { return Finished; }

private:
  struct Jump {
    Timestamp Time = 0;
    uint32_t Thread = 0;
    std::string Description;
    bool StopsOnTheWay = false;
  };

  std::string answer(llvm::StringRef Packet);
  std::string answerState(llvm::StringRef Packet);
  std::string answerQuery(llvm::StringRef Packet);
  std::string answerSupported();
  std::string answerTransfer(llvm::StringRef Packet);
  std::string answerRegion(llvm::StringRef Packet);
  std::string answerBreakpoint(llvm::StringRef Packet);
  std::string answerResume(llvm::StringRef Packet);
  /// At a resume: whether it is one that ends an interrupted run.
  bool interruptedMeanwhile();
  std::string answerMemory(llvm::StringRef Packet, bool Binary);
  std::string answerMonitor(llvm::StringRef Hex);

  std::string stopReply();
  std::string threadReply(uint32_t Thread);
  /// Why the signal came that is delivered now; empty: nothing more to say.
  std::string faultText(int Signal);
  void appendRegisters(std::string &Reply, const Registers &R);
  std::string failure(llvm::Error E);
  std::string failure(llvm::StringRef Sentence);

  /// The threads alive now; at least the present one.
  llvm::Expected<std::vector<ThreadInfo>> threadsNow();
  /// Thread number of the debugger's name for it; 0: none such.
  uint32_t threadNumber(llvm::StringRef OsThread);
  llvm::Expected<std::string> document(llvm::StringRef Object,
                                       llvm::StringRef Annex);
  /// What the debugger should know of modules now.
  llvm::Expected<llvm::ArrayRef<LinkedModule>> modulesNow();
  llvm::Expected<std::string> librariesDocument();
  uint64_t processId();

  const Trace &T;
  PacketChannel Channel;
  TimeTravel Travel;
  ProcessImage Image;
  Stop LastStop;
  bool CannotGoOn = false; ///< the last resume started at the end of the run
  std::string Description; ///< replaces what the debugger would say of a stop
  uint32_t QueryThread = 0, ResumeThread = 0; ///< of the H packets; 0: any
  bool IsLldb = false, ErrorStrings = false, StopsAcknowledging = false,
       AnyBuild = false;
  std::atomic<bool> Finished = false;
  std::function<void()> BeforeStop;
  bool CameBackward = false;             ///< the last resume did
  std::vector<LinkedModule> ModulesTold; ///< what LLDB was made to ask for

  mutable std::mutex Lock; ///< of what follows
  bool Running = false;    ///< from a resume to runEnded()
  bool WantsEnd = false;   ///< interrupt() was called in this run
  Cancellation *Searching = nullptr;
  std::optional<Jump> Next;
  Position Shown;
};

} // namespace chronicle

#endif
