// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a debugger is in a recorded run, and how it moves.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_TIMETRAVEL_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_TIMETRAVEL_H

#include "lldb-plugin/session/BreakpointHits.h"
#include "lldb-plugin/session/StopReason.h"
#include "query/Trace.h"
#include <map>
#include <optional>
#include <set>

namespace chronicle::session {

/// A moment, and the thread that the debugger looks at.
struct Position {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  /// The thread makes a call that the debugger wants: it is not in the trace
  /// until the call has returned.
  bool Diverted = false;
};

/// Moves through a run. Breakpoints and watchpoints are found by the trace's
/// index, so a move costs a few replayed blocks, however far it goes. A forward
/// move stops before the instruction at a breakpoint, which may be the present
/// one, and after a write. A backward move stops before both, and always
/// earlier than now. A read counts as a write does. The first move with a
/// watchpoint for reads makes the index of reads. Not thread-safe.
class TimeTravel {
public:
  explicit TimeTravel(const query::Trace &T) : T(T), Hits(T) {}

  const Position &position() const { return Now; }
  /// Thread 0: the one that runs then or, at the end of the run, the one that
  /// the signal that killed the program was for.
  llvm::Error jump(Timestamp Time, uint32_t Thread = 0);

  void addBreakpoint(uint64_t Address) { Breakpoints.insert(Address); }
  void removeBreakpoint(uint64_t Address);
  const std::multiset<uint64_t> &breakpoints() const { return Breakpoints; }
  struct Watchpoint {
    uint64_t Address, Length;
    WatchKind Kind = WatchKind::Write;
    auto operator<=>(const Watchpoint &) const = default;
  };
  void addWatchpoint(const Watchpoint &W);
  void removeWatchpoint(const Watchpoint &W);

  llvm::Expected<Stop> continueForward(const answers::Cancellation &Cancel);
  /// Goes no further than Until.
  llvm::Expected<Stop>
  continueBackward(const answers::Cancellation &Cancel,
                   std::optional<Position> Until = std::nullopt);
  /// Steps by one instruction of the thread. Other threads run meanwhile, as
  /// they did in the recorded run; Others says whether their breakpoints count.
  llvm::Expected<Stop> stepForward(uint32_t Thread, bool Others,
                                   const answers::Cancellation &Cancel);
  llvm::Expected<Stop> stepBackward(uint32_t Thread,
                                    const answers::Cancellation &Cancel);
  /// The stop at the end of the run: the signal that killed the program, or
  /// the end itself.
  Stop endStop() const;

private:
  struct Hit {
    Position Where;
    Stop What;
  };
  struct Search;
  /// Where a watchpoint stops for the write; empty if it does not.
  std::optional<Timestamp> stopFor(const answers::Write &W,
                                   const Search &S) const;
  llvm::Error searchWrites(const Watchpoint &Watched, Search &S,
                           const answers::Cancellation &Cancel) const;
  llvm::Error searchReads(const Watchpoint &Watched, Search &S,
                          const answers::Cancellation &Cancel) const;
  llvm::Error searchAccesses(Search &S,
                             const answers::Cancellation &Cancel) const;
  llvm::Error searchBreakpoints(Search &S, const answers::Cancellation &Cancel);
  llvm::Expected<std::optional<Hit>>
  searchForward(Timestamp From, Timestamp Until,
                const answers::Cancellation &Cancel);
  llvm::Expected<std::optional<Hit>>
  searchBackward(Timestamp From, const answers::Cancellation &Cancel);
  llvm::Expected<Stop> goToEnd();
  /// The stop at To after a step from From that nothing else ended.
  llvm::Expected<Stop> afterStep(Timestamp From, Timestamp To,
                                 const answers::Cancellation &Cancel) const;

  const query::Trace &T;
  Position Now;
  std::multiset<uint64_t> Breakpoints;
  BreakpointHits Hits;
  std::multiset<Watchpoint> Watchpoints;
};

} // namespace chronicle::session

#endif
