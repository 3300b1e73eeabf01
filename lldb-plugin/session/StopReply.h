// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The packets that report a stop to a debugger.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_STOPREPLY_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_STOPREPLY_H

#include "lldb-plugin/session/DebuggerTraits.h"
#include "lldb-plugin/session/RegisterLayout.h"
#include "lldb-plugin/session/StopReason.h"
#include "lldb-plugin/session/TimeTravel.h"

namespace chronicle::session {

/// A stop as a debugger is to see it.
struct StopReport {
  Stop Why;
  Position Where;
  /// Replaces the debugger's own words for the stop; empty: does not.
  std::string Description;
  bool CannotGoOn = false; ///< the resume started at the end of the run
  /// How often LLDB is to ask for the modules (ProcessQueries::moduleReads).
  unsigned ModuleReads = 0;
  /// The registers of the thread that stopped; empty: those of the trace.
  RegisterValues Registers;
};

/// Threads are those alive at the stop; only LLDB gets them. Reads the
/// registers of each.
llvm::Expected<std::string>
stopReply(const query::Trace &T, StopReport Report,
          llvm::ArrayRef<answers::ThreadInfo> Threads,
          const DebuggerTraits &Debugger);
/// For a thread that has no part in the stop.
llvm::Expected<std::string> idleThreadReply(const query::Trace &T,
                                            Position Where);

} // namespace chronicle::session

#endif
