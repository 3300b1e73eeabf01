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
