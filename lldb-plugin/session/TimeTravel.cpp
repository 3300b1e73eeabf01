// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/session/TimeTravel.h"
#include "query/answers/RunEnd.h"
#include "trace-format/Text.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::session {

static answers::AddressRange rangeOf(const TimeTravel::Watchpoint &W) {
  return {W.Address, W.Address + W.Length - 1};
}

static Stop stopAt(const TimeTravel::Watchpoint &W) {
  Stop S{StopKind::Watchpoint, 0, W.Address};
  S.Watched = W.Kind;
  return S;
}

/// The thread that got the signal that killed the program, which may not be the
/// one that ran last. 0: no signal did.
static Expected<uint32_t> killedThread(const query::Trace &T) {
  uint32_t Thread = 0;
  const Timestamp End = T.instructions();
  if (Error E =
          T.events(uint64_t(1) << CH_EV_SIGNAL, {End, End},
                   /*Backward=*/true, [&](const answers::TimedEvent &Event) {
                     auto Signal = Event.as<events::SignalEvent>();
                     if (Signal && Signal->flags & CH_SIG_FATAL)
                       Thread = Signal->thread;
                     return !Thread;
                   }))
    return E;
  return Thread;
}

Error TimeTravel::jump(Timestamp Time, uint32_t Thread) {
  if (Time > T.instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no time {1}",
                groupedDigits(T.instructions()), groupedDigits(Time)));
  if (!Thread && Time == T.instructions())
    if (Error E = killedThread(T).moveInto(Thread))
      return E;
  if (!Thread)
    if (Error E = T.threadAt(Time).moveInto(Thread))
      return E;
  Now = {Time, Thread};
  return Error::success();
}

void TimeTravel::removeBreakpoint(uint64_t Address) {
  auto It = Breakpoints.find(Address);
  if (It != Breakpoints.end())
    Breakpoints.erase(It);
}

void TimeTravel::addWatchpoint(const Watchpoint &W) {
  if (W.Length)
    Watchpoints.insert(W);
}

void TimeTravel::removeWatchpoint(const Watchpoint &W) {
  auto It = Watchpoints.find(W);
  if (It != Watchpoints.end())
    Watchpoints.erase(It);
}

Stop TimeTravel::endStop() const {
  if (auto Signal = answers::RunEnd::of(T.reader().end()).signal())
    return {StopKind::Signal, int(*Signal)};
  return {StopKind::End};
}

Expected<Stop> TimeTravel::goToEnd() {
  // The signal that killed the program is reported only to a debugger that
  // comes from before it.
  Stop Result = Now.Time == T.instructions() ? Stop{StopKind::End} : endStop();
  if (Error E = jump(T.instructions()))
    return E;
  return Result;
}

namespace {
/// A signal for which a handler was entered.
struct Delivery {
  Timestamp Time;
  uint32_t Thread;
  int Signal;
};
} // namespace

/// The first one after After and until Until. Ignored signals are not recorded;
/// a debugger of a live process does not stop for them either.
static Expected<std::optional<Delivery>>
nextSignal(const query::Trace &T, Timestamp After, Timestamp Until,
           const answers::Cancellation &Cancel) {
  std::optional<Delivery> Found;
  if (After >= Until)
    return Found;
  if (Error E = T.events(
          uint64_t(1) << CH_EV_SIGNAL, {After + 1, Until}, /*Backward=*/false,
          [&](const answers::TimedEvent &Event) {
            auto Signal = Event.as<events::SignalEvent>();
            if (!Signal || Signal->flags & CH_SIG_FATAL)
              return true; // the end of the run reports a fatal one
            Found = Delivery{Event.Time, Signal->thread, int(Signal->number)};
            return false;
          },
          &Cancel))
    return E;
  return Found;
}

/// A search for the first hit in one direction: the best hit so far, and the
/// time range that may have a better one.
struct TimeTravel::Search {
  answers::TimeRange When;
  bool Backward;
  std::optional<Hit> Best;

  void take(const Hit &New) {
    const Timestamp Time = New.Where.Time;
    if (Best &&
        (Backward ? Time <= Best->Where.Time : Time >= Best->Where.Time))
      return;
    Best = New;
    if (Backward)
      When.First = std::max(When.First, Time);
    else
      When.Last = std::min(When.Last, Time);
  }
};

std::optional<Timestamp> TimeTravel::stopFor(const answers::Write &W,
                                             const Search &S) const {
  const bool Instruction = W.By == answers::Writer::Instruction;
  if (!S.Backward) {
    const Timestamp Seen = W.Time + Instruction;
    return Seen > Now.Time ? std::optional(Seen) : std::nullopt;
  }
  // A write that no instruction made, such as a system call's, happened between
  // the instruction at its time and the one before; the moment before the write
  // is the moment before the latter.
  if (Instruction ? W.Time >= Now.Time : W.Time <= S.When.First)
    return std::nullopt;
  return W.Time - !Instruction;
}

Error TimeTravel::searchWrites(const Watchpoint &Watched, Search &S,
                               const answers::Cancellation &Cancel) const {
  return T.writes(
      rangeOf(Watched), S.When, S.Backward,
      [&](const answers::Write &W) {
        const std::optional<Timestamp> Time = stopFor(W, S);
        if (Time)
          S.take({{*Time, W.Thread}, stopAt(Watched)});
        return !Time;
      },
      &Cancel);
}

Error TimeTravel::searchReads(const Watchpoint &Watched, Search &S,
                              const answers::Cancellation &Cancel) const {
  return T.reads(
      rangeOf(Watched), S.When, S.Backward,
      [&](const answers::Read &R) {
        if (S.Backward ? R.Time >= Now.Time : R.Time < Now.Time)
          return true;
        S.take({{R.Time + !S.Backward, R.Thread}, stopAt(Watched)});
        return false;
      },
      &Cancel);
}

Error TimeTravel::searchAccesses(Search &S,
                                 const answers::Cancellation &Cancel) const {
  for (const Watchpoint &Watched : Watchpoints) {
    if (Watched.Kind != WatchKind::Read)
      if (Error E = searchWrites(Watched, S, Cancel))
        return E;
    if (Watched.Kind != WatchKind::Write)
      if (Error E = searchReads(Watched, S, Cancel))
        return E;
  }
  return Error::success();
}

Error TimeTravel::searchBreakpoints(Search &S,
                                    const answers::Cancellation &Cancel) {
  for (uint64_t Address : Breakpoints) {
    Expected<std::optional<answers::Execution>> X =
        Hits.find(Address, S.When, S.Backward, Cancel);
    if (!X)
      return X.takeError();
    if (*X)
      S.take({{(*X)->Time, (*X)->Thread}, {StopKind::Breakpoint}});
  }
  return Error::success();
}

Expected<std::optional<TimeTravel::Hit>>
TimeTravel::searchForward(Timestamp From, Timestamp Until,
                          const answers::Cancellation &Cancel) {
  Search S{{From, Until}, /*Backward=*/false, std::nullopt};
  // Watchpoints first: at the same moment, the access comes before the
  // instruction that the breakpoint is at.
  if (Error E = searchAccesses(S, Cancel))
    return E;
  if (Error E = searchBreakpoints(S, Cancel))
    return E;
  Until = S.When.Last;
  // At the present moment a breakpoint takes precedence over the signal whose
  // handler begins here.
  if (S.Best && Until <= Now.Time)
    return S.Best;
  Expected<std::optional<Delivery>> Signal =
      nextSignal(T, Now.Time, S.Best ? Until - 1 : Until, Cancel);
  if (!Signal)
    return Signal.takeError();
  if (*Signal)
    return Hit{{(*Signal)->Time, (*Signal)->Thread},
               {StopKind::Signal, (*Signal)->Signal}};
  return S.Best;
}

Expected<std::optional<TimeTravel::Hit>>
TimeTravel::searchBackward(Timestamp From,
                           const answers::Cancellation &Cancel) {
  Search S{{From, Now.Time}, /*Backward=*/true, std::nullopt};
  if (From > Now.Time)
    return S.Best;
  if (Error E = searchAccesses(S, Cancel))
    return E;
  if (S.When.First >= Now.Time)
    return S.Best;
  S.When.Last = Now.Time - 1;
  if (Error E = searchBreakpoints(S, Cancel))
    return E;
  return S.Best;
}

Expected<Stop>
TimeTravel::continueForward(const answers::Cancellation &Cancel) {
  Expected<std::optional<Hit>> Found =
      searchForward(Now.Time, T.instructions(), Cancel);
  if (Cancel.Cancelled) {
    if (!Found)
      consumeError(Found.takeError());
    return Stop{StopKind::Interrupted};
  }
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return goToEnd();
  Now = (*Found)->Where;
  return (*Found)->What;
}

Expected<Stop> TimeTravel::continueBackward(const answers::Cancellation &Cancel,
                                            std::optional<Position> Until) {
  Expected<std::optional<Hit>> Found =
      searchBackward(Until ? Until->Time + 1 : 0, Cancel);
  if (Cancel.Cancelled) {
    if (!Found)
      consumeError(Found.takeError());
    return Stop{StopKind::Interrupted};
  }
  if (!Found)
    return Found.takeError();
  if (!*Found && Until) {
    Now = *Until;
    return Stop{StopKind::Arrived};
  }
  if (!*Found) {
    if (Error E = jump(0))
      return E;
    return Stop{StopKind::Begin};
  }
  Now = (*Found)->Where;
  return (*Found)->What;
}

/// The time of the thread's first instruction from From on, or of its last one
/// before From.
static Expected<std::optional<Timestamp>>
instructionNear(const query::Trace &T, uint32_t Thread, Timestamp From,
                bool Backward, const answers::Cancellation &Cancel) {
  std::optional<Timestamp> Ran;
  Expected<uint32_t> Running = T.threadAt(From - Backward);
  if (!Running)
    return Running.takeError();
  if (*Running == Thread)
    return From - Backward;
  if (Error E = T.executions(
          {0, ~uint64_t(0)},
          Backward ? answers::TimeRange{0, From - 1}
                   : answers::TimeRange{From, T.instructions()},
          Thread, Backward,
          [&](const answers::Execution &X) {
            Ran = X.Time;
            return false;
          },
          &Cancel))
    return E;
  return Ran;
}

/// Whether the watchpoint was accessed after First and until Last.
static Expected<bool> accessedBetween(const query::Trace &T,
                                      const TimeTravel::Watchpoint &Watched,
                                      Timestamp First, Timestamp Last,
                                      const answers::Cancellation &Cancel) {
  bool Accessed = false;
  if (Watched.Kind != WatchKind::Read)
    if (Error E = T.writes(
            rangeOf(Watched), {First, Last}, /*Backward=*/false,
            [&](const answers::Write &W) {
              Timestamp Seen = W.Time + (W.By == answers::Writer::Instruction);
              Accessed = Seen > First && Seen <= Last;
              return !Accessed;
            },
            &Cancel))
      return E;
  if (!Accessed && Watched.Kind != WatchKind::Write && Last > First)
    if (Error E = T.reads(
            rangeOf(Watched), {First, Last - 1}, /*Backward=*/false,
            [&](const answers::Read &) {
              Accessed = true;
              return false;
            },
            &Cancel))
      return E;
  return Accessed;
}

Expected<Stop>
TimeTravel::afterStep(Timestamp From, Timestamp To,
                      const answers::Cancellation &Cancel) const {
  // As on a processor, a step that accesses watched memory stops for the
  // watchpoint.
  for (const Watchpoint &Watched : Watchpoints) {
    Expected<bool> Accessed = accessedBetween(T, Watched, From, To, Cancel);
    if (!Accessed)
      return Accessed.takeError();
    if (*Accessed)
      return stopAt(Watched);
  }
  if (Breakpoints.empty())
    return Stop{StopKind::Step};
  Expected<answers::Registers> R = T.registers(Now.Thread, Now.Time);
  if (!R)
    return R.takeError();
  return Stop{Breakpoints.count(R->rip()) ? StopKind::Breakpoint
                                          : StopKind::Step};
}

Expected<Stop> TimeTravel::stepForward(uint32_t Thread, bool Others,
                                       const answers::Cancellation &Cancel) {
  if (Now.Time == T.instructions()) {
    Now.Thread = Thread;
    return Stop{StopKind::End};
  }
  Expected<std::optional<Timestamp>> Ran =
      instructionNear(T, Thread, Now.Time, /*Backward=*/false, Cancel);
  if (!Ran)
    return Ran.takeError();
  if (Cancel.Cancelled)
    return Stop{StopKind::Interrupted};
  Timestamp Until = *Ran ? **Ran + 1 : T.instructions();
  if (Others && Until > Now.Time + 1) {
    Expected<std::optional<Hit>> Found =
        searchForward(Now.Time + 1, Until - 1, Cancel);
    if (!Found)
      return Found.takeError();
    if (*Found) {
      Now = (*Found)->Where;
      return (*Found)->What;
    }
  }
  if (!*Ran)
    return goToEnd();
  Timestamp Before = Now.Time;
  Now = {Until, Thread};
  if (Now.Time == T.instructions())
    return endStop();
  return afterStep(Before, Until, Cancel);
}

Expected<Stop> TimeTravel::stepBackward(uint32_t Thread,
                                        const answers::Cancellation &Cancel) {
  if (!Now.Time) {
    Now.Thread = Thread;
    return Stop{StopKind::Begin};
  }
  Expected<std::optional<Timestamp>> Ran =
      instructionNear(T, Thread, Now.Time, /*Backward=*/true, Cancel);
  if (!Ran)
    return Ran.takeError();
  if (Cancel.Cancelled)
    return Stop{StopKind::Interrupted};
  if (!*Ran) {
    // The thread has not run yet, so its history ends here.
    if (Error E = jump(0))
      return E;
    return Stop{StopKind::Begin};
  }
  Timestamp Before = Now.Time;
  Now = {**Ran, Thread};
  return afterStep(Now.Time, Before, Cancel);
}

} // namespace chronicle::session
