// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/EventQuestions.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::questions {

template <class... Types>
static std::optional<uint32_t> threadOfAny(const answers::TimedEvent &Event) {
  std::optional<uint32_t> Thread;
  auto Try = [&](const auto &Typed) {
    if (Typed)
      Thread = Typed->thread;
  };
  (Try(Event.as<Types>()), ...);
  return Thread;
}

std::optional<uint32_t> threadOf(const answers::TimedEvent &Event) {
  using namespace events;
  return threadOfAny<SnapshotEvent, ResumeEvent, RegistersEvent, FaultEvent,
                     MemoryEvent, MapEvent, UnmapEvent, ProtectEvent,
                     SyscallEnterEvent, SyscallExitEvent, SignalEvent,
                     SignalReturnEvent, ThreadStartEvent, ThreadExitEvent,
                     OutputEvent>(Event);
}

Expected<std::optional<SignalPlace>>
signalPlace(const query::Trace &T, const answers::TimedEvent &Event) {
  auto Signal = Event.as<events::SignalEvent>();
  if (!Signal)
    return std::nullopt;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Signal->thread, Event.Time);
  if (!Stack)
    return Stack.takeError();
  // The handler is about to begin; the frame below it was interrupted.
  size_t I = !Stack->empty() && Stack->front().Signal &&
             Stack->front().Entry == Event.Time;
  // The pc of the innermost frame is known, even if it is 0.
  if (I >= Stack->size() || (I && !(*Stack)[I].Pc))
    return std::nullopt;
  SignalPlace Result{placeAt(T, (*Stack)[I].Pc, Event.Time), std::nullopt};
  Expected<std::optional<Place>> Caller =
      callerOfSystemCode(T, Result.Where, Signal->thread, Event.Time);
  if (!Caller)
    return Caller.takeError();
  Result.Caller = std::move(*Caller);
  return Result;
}

Expected<SearchEnd> searchEvents(const query::Trace &T, uint64_t Kinds,
                                 const SearchOptions &Options,
                                 Visitor<answers::TimedEvent> Visit,
                                 const answers::Cancellation &Cancel) {
  AnswerSink<answers::TimedEvent> Sink(Options.Limit, Visit);
  return Sink.finish(T.events(
      Kinds, Options.When, Options.Backward,
      [&](const answers::TimedEvent &Event) {
        if (Options.Thread && threadOf(Event) != Options.Thread)
          return true;
        return Sink.add(Event);
      },
      &Cancel));
}

} // namespace chronicle::questions
