// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace that LLDB debugs as a process of its own.

#ifndef CHRONICLE_LLDB_PLUGIN_LOADEDTRACE_H
#define CHRONICLE_LLDB_PLUGIN_LOADEDTRACE_H

#include "lldb-plugin/TimeTravel.h"
#include "lldb/API/LLDB.h"
#include <memory>

namespace chronicle {

class GdbSession;

/// The trace, and the session that LLDB's process talks to over a pair of
/// sockets. Lives until the process has gone and nobody uses it.
class LoadedTrace : public std::enable_shared_from_this<LoadedTrace> {
public:
  /// Opens the trace, makes a target from the recorded program and connects a
  /// process to it, stopped at At: start, end, crash (the same as end) or a
  /// timestamp. LLDB gets files of another build than the recorded one only
  /// with AnyBuild. Warnings get sentences about them, StopText what LLDB says
  /// of the stop, if it says it at once.
  static llvm::Expected<std::shared_ptr<LoadedTrace>>
  load(lldb::SBDebugger Debugger, llvm::StringRef Path, llvm::StringRef At,
       bool AnyBuild, std::vector<std::string> &Warnings,
       std::string &StopText);
  /// The same trace and moment again, in a debugger that nobody looks at.
  llvm::Expected<std::shared_ptr<LoadedTrace>>
  connectHidden(lldb::SBDebugger Debugger) const;
  /// Of the debugger's selected target's process; null: not one of ours.
  static std::shared_ptr<LoadedTrace> of(lldb::SBDebugger Debugger);
  /// By LLDB's unique number of the process.
  static std::shared_ptr<LoadedTrace> of(uint32_t Process);
  ~LoadedTrace();

  const Trace &trace() const { return *T; }
  Position position() const;
  lldb::SBProcess process() const { return Process; }

  /// Goes to a moment and prints the stop as LLDB does. Thread 0: the one that
  /// runs then.
  void jump(lldb::SBDebugger Debugger, Timestamp Time, uint32_t Thread,
            std::string Description, lldb::SBCommandReturnObject &Result);
  /// Makes the next reverse continue end at an earlier moment, if nothing stops
  /// it on the way. Hidden: inlined functions that begin there and are not to
  /// be shown as entered.
  void goBack(Timestamp Time, uint32_t Thread, std::string Description,
              unsigned Hidden);
  /// Done when the process has stopped and LLDB does not go on by itself.
  void stopped();
  /// Ends a run; false: none is under way.
  bool interrupt();
  /// The same without a word, and waits until LLDB has seen it. For hidden
  /// ones.
  llvm::Error jumpHidden(Timestamp Time, uint32_t Thread);

private:
  LoadedTrace();
  static llvm::Expected<std::shared_ptr<LoadedTrace>>
  connect(lldb::SBDebugger Debugger, std::shared_ptr<const Trace> T,
          Timestamp Start, bool AnyBuild, std::string &StopText);

  std::shared_ptr<const Trace> T;
  std::unique_ptr<GdbSession> Session;
  int Socket = -1; ///< the session's end
  bool AnyBuild = false;
  std::optional<std::pair<Timestamp, unsigned>> HideAt; ///< of goBack()
  lldb::SBProcess Process;
};

/// `process continue --reverse`, adding what it prints.
void runReverse(lldb::SBDebugger Debugger, lldb::SBCommandReturnObject &Result);

/// A moment as people write it: a number, start, end, crash, a bookmark, or +n
/// and -n from where they are. The thread is 0, whichever runs then, but for
/// bookmarks.
llvm::Expected<Position> parseMoment(const Trace &T, llvm::StringRef Text,
                                     Timestamp Now);

} // namespace chronicle

#endif
