// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/TimeTravel.h"
#include "trace-format/Stream.h"
#include <cstring>

using namespace llvm;

namespace chronicle {

static AddressRange rangeOf(const std::pair<uint64_t, uint64_t> &Watchpoint) {
  return {Watchpoint.first, Watchpoint.first + Watchpoint.second - 1};
}

Error TimeTravel::jump(Timestamp Time, uint32_t Thread) {
  if (Time > T.instructions())
    return createStringError("the run ends at %llu: there is no time %llu",
                             (unsigned long long)T.instructions(),
                             (unsigned long long)Time);
  if (!Thread) {
    Expected<uint32_t> Running = T.threadAt(Time);
    if (!Running)
      return Running.takeError();
    Thread = *Running;
  }
  Now = {Time, Thread};
  return Error::success();
}

void TimeTravel::removeBreakpoint(uint64_t Address) {
  auto It = Breakpoints.find(Address);
  if (It != Breakpoints.end())
    Breakpoints.erase(It);
}

void TimeTravel::addWatchpoint(uint64_t Address, uint64_t Length) {
  if (Length)
    Watchpoints.insert({Address, Length});
}

void TimeTravel::removeWatchpoint(uint64_t Address, uint64_t Length) {
  auto It = Watchpoints.find({Address, Length});
  if (It != Watchpoints.end())
    Watchpoints.erase(It);
}

Stop TimeTravel::endStop() const {
  if (const json::Object *End = T.reader().end()) {
    StringRef Reason = End->getString("reason").value_or("");
    int Signal = End->getInteger("code").value_or(0);
    if ((Reason == "signal" || Reason == "killed") && Signal)
      return {StopKind::Signal, Signal};
  }
  return {StopKind::End};
}

Expected<Stop> TimeTravel::goToEnd() {
  // A death is news only to who comes from before it.
  Stop Result = Now.Time == T.instructions() ? Stop{StopKind::End} : endStop();
  if (Error E = jump(T.instructions()))
    return E;
  return Result;
}

namespace {
/// A signal that a handler was entered for.
struct Delivery {
  Timestamp Time;
  uint32_t Thread;
  int Signal;
};
} // namespace

/// The first one after After and until Until. Those that were ignored leave no
/// trace, as in a live debugger one that passes them.
static Expected<std::optional<Delivery>>
nextSignal(const Trace &T, Timestamp After, Timestamp Until,
           const Cancellation &Cancel) {
  std::optional<Delivery> Found;
  if (After >= Until)
    return Found;
  if (Error E = T.events(
          uint64_t(1) << CH_EV_SIGNAL, {After + 1, Until}, /*Backward=*/false,
          [&](const TimedEvent &Event) {
            ch_ev_signal Signal;
            if (Event.Payload.size() < sizeof(Signal))
              return true;
            memcpy(&Signal, Event.Payload.data(), sizeof(Signal));
            if (Signal.flags & CH_SIG_FATAL)
              return true; // the end of the run says so
            Found = Delivery{Event.Time, Signal.thread, int(Signal.number)};
            return false;
          },
          &Cancel))
    return E;
  return Found;
}

/// The first hit in one direction: the best so far, and where a better one may
/// be.
struct TimeTravel::Search {
  TimeRange When;
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

std::optional<Timestamp> TimeTravel::stopFor(const Write &W,
                                             const Search &S) const {
  const bool Instruction = W.By == Writer::Instruction;
  if (!S.Backward) {
    const Timestamp Seen = W.Time + Instruction;
    return Seen > Now.Time ? std::optional(Seen) : std::nullopt;
  }
  // What is not an instruction's was done between the one before and the one at
  // its time; before it is before the former.
  if (Instruction ? W.Time >= Now.Time : W.Time <= S.When.First)
    return std::nullopt;
  return W.Time - !Instruction;
}

Error TimeTravel::searchWrites(Search &S, const Cancellation &Cancel) const {
  for (const auto &Watchpoint : Watchpoints)
    if (Error E = T.writes(
            rangeOf(Watchpoint), S.When, S.Backward,
            [&](const Write &W) {
              const std::optional<Timestamp> Time = stopFor(W, S);
              if (Time)
                S.take({{*Time, W.Thread},
                        {StopKind::Watchpoint, 0, Watchpoint.first}});
              return !Time;
            },
            &Cancel))
      return E;
  return Error::success();
}

Error TimeTravel::searchBreakpoints(Search &S, const Cancellation &Cancel) {
  for (uint64_t Address : Breakpoints) {
    Expected<std::optional<Execution>> X =
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
                          const Cancellation &Cancel) {
  Search S{{From, Until}, /*Backward=*/false, std::nullopt};
  // Watchpoints first: at the same moment, the write comes before the
  // instruction that the breakpoint is at.
  if (Error E = searchWrites(S, Cancel))
    return E;
  if (Error E = searchBreakpoints(S, Cancel))
    return E;
  Until = S.When.Last;
  // A breakpoint where the handler begins is what was asked for.
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
TimeTravel::searchBackward(Timestamp From, const Cancellation &Cancel) {
  Search S{{From, Now.Time}, /*Backward=*/true, std::nullopt};
  if (From > Now.Time)
    return S.Best;
  if (Error E = searchWrites(S, Cancel))
    return E;
  if (S.When.First >= Now.Time)
    return S.Best;
  S.When.Last = Now.Time - 1;
  if (Error E = searchBreakpoints(S, Cancel))
    return E;
  return S.Best;
}

Expected<Stop> TimeTravel::continueForward(const Cancellation &Cancel) {
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

Expected<Stop> TimeTravel::continueBackward(const Cancellation &Cancel,
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

/// When the thread runs its first instruction from From on, or its last one
/// before From.
static Expected<std::optional<Timestamp>>
instructionNear(const Trace &T, uint32_t Thread, Timestamp From, bool Backward,
                const Cancellation &Cancel) {
  std::optional<Timestamp> Ran;
  Expected<uint32_t> Running = T.threadAt(From - Backward);
  if (!Running)
    return Running.takeError();
  if (*Running == Thread)
    return From - Backward;
  if (Error E = T.executions(
          {0, ~uint64_t(0)},
          Backward ? TimeRange{0, From - 1} : TimeRange{From, T.instructions()},
          Thread, Backward,
          [&](const Execution &X) {
            Ran = X.Time;
            return false;
          },
          &Cancel))
    return E;
  return Ran;
}

/// The address of a watchpoint that is written after First and until Last.
static Expected<std::optional<uint64_t>>
watchpointBetween(const Trace &T,
                  const std::multiset<std::pair<uint64_t, uint64_t>> &Of,
                  Timestamp First, Timestamp Last, const Cancellation &Cancel) {
  for (const auto &Watchpoint : Of) {
    bool Written = false;
    if (Error E = T.writes(
            rangeOf(Watchpoint), {First, Last}, /*Backward=*/false,
            [&](const Write &W) {
              Timestamp Seen = W.Time + (W.By == Writer::Instruction);
              Written = Seen > First && Seen <= Last;
              return !Written;
            },
            &Cancel))
      return E;
    if (Written)
      return Watchpoint.first;
  }
  return std::nullopt;
}

Expected<Stop> TimeTravel::afterStep(Timestamp From, Timestamp To,
                                     const Cancellation &Cancel) const {
  // A step that writes what is watched stops for that, as on a processor.
  Expected<std::optional<uint64_t>> Written =
      watchpointBetween(T, Watchpoints, From, To, Cancel);
  if (!Written)
    return Written.takeError();
  if (*Written)
    return Stop{StopKind::Watchpoint, 0, **Written};
  if (Breakpoints.empty())
    return Stop{StopKind::Step};
  Expected<Registers> R = T.registers(Now.Thread, Now.Time);
  if (!R)
    return R.takeError();
  return Stop{Breakpoints.count(R->rip()) ? StopKind::Breakpoint
                                          : StopKind::Step};
}

Expected<Stop> TimeTravel::stepForward(uint32_t Thread, bool Others,
                                       const Cancellation &Cancel) {
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
                                        const Cancellation &Cancel) {
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
    // The thread has not run yet: before it there is only who made it.
    if (Error E = jump(0))
      return E;
    return Stop{StopKind::Begin};
  }
  Timestamp Before = Now.Time;
  Now = {**Ran, Thread};
  return afterStep(Now.Time, Before, Cancel);
}

} // namespace chronicle
