// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace that LLDB debugs as a process of its own.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_LOADEDTRACE_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_LOADEDTRACE_H

#include "lldb-plugin/session/TimeTravel.h"
#include "lldb-plugin/target/TraceFiles.h"
#include "lldb/API/LLDB.h"
#include <atomic>
#include <memory>

namespace chronicle::session {
class GdbSession;
}

namespace chronicle::target {

struct LoadOptions {
  std::string At = "end"; ///< a moment (parseMoment)
  files::FileOptions Files;
  std::vector<SourceMapping> SourceMap;
};

/// The trace, and the session that LLDB's process talks to over a pair of
/// sockets. Lives until the process has gone and the last user has let go.
class LoadedTrace : public std::enable_shared_from_this<LoadedTrace> {
public:
  /// Opens the trace, makes a target from the recorded program and connects a
  /// process to it. Unless the options say so, LLDB gets no file of another
  /// build than the recorded one. Warnings receives sentences about files that
  /// are missing, StopText what LLDB prints about the stop, if it prints it at
  /// once.
  static llvm::Expected<std::shared_ptr<LoadedTrace>>
  load(lldb::SBDebugger Debugger, llvm::StringRef Path, const LoadOptions &How,
       std::vector<std::string> &Warnings, std::string &StopText);
  /// The same trace and moment again, in a debugger that the user does not
  /// see.
  llvm::Expected<std::shared_ptr<LoadedTrace>>
  connectHidden(lldb::SBDebugger Debugger) const;
  /// The trace behind the process of the debugger's selected target. Null:
  /// that process is not a loaded trace.
  static std::shared_ptr<LoadedTrace> of(lldb::SBDebugger Debugger);
  /// By LLDB's unique number of the process.
  static std::shared_ptr<LoadedTrace> of(uint32_t Process);
  ~LoadedTrace();

  const query::Trace &trace() const { return *T; }
  session::Position position() const;
  lldb::SBProcess process() const { return Process; }
  /// The trace's number of one of LLDB's threads; of a thread that the trace
  /// does not know, that of the present position.
  uint32_t threadNumber(lldb::SBThread Thread) const;

  /// Goes to a moment and prints the stop as LLDB does. Thread 0: the one that
  /// runs then.
  void jump(lldb::SBDebugger Debugger, session::Position To, session::Stop Why,
            lldb::SBCommandReturnObject &Result);
  /// Makes the next reverse continue end at an earlier moment, if nothing stops
  /// it on the way. Hidden: how many of the inlined functions that begin there
  /// are not to be shown as entered.
  void goBack(session::Position To, session::Stop Why, unsigned Hidden);
  /// Must be called when the process has stopped and LLDB does not continue by
  /// itself.
  void stopped();
  /// Throws away what the last call of a function changed. Called when its
  /// result has been shown.
  void forgetCall();
  /// Interrupts a run. False: none is under way.
  bool interrupt();
  /// The same for the runs of all loaded traces. False: none is under way that
  /// has not been interrupted before.
  static bool interruptAll();
  /// Goes to a moment without output, and waits until LLDB has seen it. For
  /// traces made by connectHidden().
  llvm::Error jumpHidden(Timestamp Time, uint32_t Thread);

private:
  LoadedTrace();
  void forgetCallWhenShown();
  void takeFramesFromHistory();
  static llvm::Expected<std::shared_ptr<LoadedTrace>>
  connect(lldb::SBDebugger Debugger, std::shared_ptr<const query::Trace> T,
          Timestamp Start, llvm::ArrayRef<SourceMapping> SourceMap,
          std::vector<std::string> &Warnings, std::string &StopText);

  std::shared_ptr<const query::Trace> T;
  std::unique_ptr<session::GdbSession> Session;
  int Socket = -1;                                      ///< the session's end
  std::optional<std::pair<Timestamp, unsigned>> HideAt; ///< of goBack()
  lldb::SBProcess Process;
  std::atomic<bool> Waiting = false; ///< a thread of forgetCallWhenShown()
};

/// A moment as users write it: a number, start, end, crash, a bookmark, or +n
/// and -n instructions from Now. The thread is that of the bookmark, or 0 for
/// the one that runs then.
llvm::Expected<session::Position>
parseMoment(const query::Trace &T, llvm::StringRef Text, Timestamp Now);

} // namespace chronicle::target

#endif
