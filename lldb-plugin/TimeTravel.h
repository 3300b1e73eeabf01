// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a debugger stands in a recorded run, and how it gets elsewhere.

#ifndef CHRONICLE_LLDB_PLUGIN_TIMETRAVEL_H
#define CHRONICLE_LLDB_PLUGIN_TIMETRAVEL_H

#include "lldb-plugin/BreakpointHits.h"
#include "query/Trace.h"
#include <map>
#include <optional>
#include <set>

namespace chronicle {

/// A moment, and the thread that is looked at.
struct Position {
  Timestamp Time = 0;
  uint32_t Thread = 0;
};

enum class StopKind {
  Step,    ///< what was asked for was done
  Arrived, ///< at the place that was named
  Breakpoint,
  Watchpoint,
  Begin,       ///< nothing was recorded before this
  End,         ///< nothing was recorded after this
  Signal,      ///< the end, where a signal killed the program
  Interrupted, ///< the search was cancelled; the position has not changed
};

struct Stop {
  StopKind Kind = StopKind::Step;
  int Signal = 0;       ///< of StopKind::Signal
  uint64_t Address = 0; ///< of the Watchpoint, as it was set
};

/// Moves through a run. Breakpoints and watchpoints are found by the trace's
/// index, so a move costs a few replayed blocks, however far it goes. Going
/// forward, it stops before the instruction at a breakpoint, which may be the
/// present one, and after a write; going backward, before both, always earlier
/// than now. Not thread-safe.
class TimeTravel {
public:
  explicit TimeTravel(const Trace &T) : T(T), Hits(T) {}

  const Position &position() const { return Now; }
  /// Thread 0: the one that runs then.
  llvm::Error jump(Timestamp Time, uint32_t Thread = 0);

  void addBreakpoint(uint64_t Address) { Breakpoints.insert(Address); }
  void removeBreakpoint(uint64_t Address);
  void addWatchpoint(uint64_t Address, uint64_t Length);
  void removeWatchpoint(uint64_t Address, uint64_t Length);

  llvm::Expected<Stop> continueForward(const Cancellation &Cancel);
  /// Until: goes no further than there.
  llvm::Expected<Stop>
  continueBackward(const Cancellation &Cancel,
                   std::optional<Position> Until = std::nullopt);
  /// One instruction of the thread. Others run meanwhile, as they did in the
  /// recorded run; Others says if their breakpoints count.
  llvm::Expected<Stop> stepForward(uint32_t Thread, bool Others,
                                   const Cancellation &Cancel);
  llvm::Expected<Stop> stepBackward(uint32_t Thread,
                                    const Cancellation &Cancel);
  /// What the end of the run looks like: how it died, or that it is over.
  Stop endStop() const;

private:
  struct Hit {
    Position Where;
    Stop What;
  };
  struct Search;
  /// Where a watchpoint stops for the write; nothing: not at this one.
  std::optional<Timestamp> stopFor(const Write &W, const Search &S) const;
  llvm::Error searchWrites(Search &S, const Cancellation &Cancel) const;
  llvm::Error searchBreakpoints(Search &S, const Cancellation &Cancel);
  llvm::Expected<std::optional<Hit>>
  searchForward(Timestamp From, Timestamp Until, const Cancellation &Cancel);
  llvm::Expected<std::optional<Hit>> searchBackward(Timestamp From,
                                                    const Cancellation &Cancel);
  llvm::Expected<Stop> goToEnd();
  /// What a step over From to To, that nothing else ended, has led to.
  llvm::Expected<Stop> afterStep(Timestamp From, Timestamp To,
                                 const Cancellation &Cancel) const;

  const Trace &T;
  Position Now;
  std::multiset<uint64_t> Breakpoints;
  BreakpointHits Hits;
  std::multiset<std::pair<uint64_t, uint64_t>> Watchpoints; ///< address, length
};

} // namespace chronicle

#endif
