// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why a recorded process is stopped, and the words that a debugger shows for
/// it.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_STOPREASON_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_STOPREASON_H

#include "trace-format/TraceData.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace chronicle::session {

enum class StopKind {
  // The debugger asked for a step or a run.
  Step,        ///< the step is done
  Breakpoint,  ///< before the instruction at a breakpoint
  Watchpoint,  ///< at an access to a watchpoint
  Signal,      ///< a signal was delivered, or killed the program
  Interrupted, ///< the search was cancelled; the position has not changed
  Begin,       ///< nothing was recorded before this
  End,         ///< nothing was recorded after this
  // A command of Chronicle named the moment.
  Arrived, ///< there, with nothing to say about it
  Goto,
  BeforeWrite,
  AfterWrite,
  BeforeRead,
  AfterRead,
  Execution,
  ReverseStepIn,
  ReverseStepOver,
  ReverseStepOut,
  ReverseStepInstruction,
};

/// Which accesses a watchpoint stops for.
enum class WatchKind { Write, Read, Access };

struct Stop {
  StopKind Kind = StopKind::Step;
  int Signal = 0;       ///< of StopKind::Signal
  uint64_t Address = 0; ///< of the Watchpoint, as it was set
  Timestamp Time = 0;   ///< of the access or execution, or of a Goto
  WatchKind Watched = WatchKind::Write; ///< of the Watchpoint
};

/// The words for a stop; empty if the debugger has its own.
std::string describe(const Stop &S);

} // namespace chronicle::session

#endif
