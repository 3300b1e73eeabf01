// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Events of the run, by kind and by thread.

#ifndef CHRONICLE_QUERY_QUESTIONS_EVENTQUESTIONS_H
#define CHRONICLE_QUERY_QUESTIONS_EVENTQUESTIONS_H

#include "query/questions/Place.h"
#include "query/questions/Search.h"
#include "trace-format/Stream.h"

namespace chronicle::questions {

/// The bit of an event kind in the mask that Trace::events() takes.
constexpr uint64_t eventBit(uint32_t Kind) { return uint64_t(1) << Kind; }

inline constexpr uint64_t SystemCallEvents =
    eventBit(CH_EV_SYSCALL_ENTER) | eventBit(CH_EV_SYSCALL_EXIT);
inline constexpr uint64_t SignalEvents = eventBit(CH_EV_SIGNAL) |
                                         eventBit(CH_EV_SIGNAL_RETURN) |
                                         eventBit(CH_EV_FAULT);
inline constexpr uint64_t ThreadEvents =
    eventBit(CH_EV_THREAD_START) | eventBit(CH_EV_THREAD_EXIT);
inline constexpr uint64_t MapEvents =
    eventBit(CH_EV_MAP) | eventBit(CH_EV_UNMAP) | eventBit(CH_EV_PROTECT);

/// Nothing: the event belongs to no thread.
std::optional<uint32_t> threadOf(const answers::TimedEvent &Event);

/// Where the thread was when the signal came.
struct SignalPlace {
  Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<Place> Caller;
};
/// Nothing: the event is no signal, or the thread's place is not known. Costs a
/// call stack.
llvm::Expected<std::optional<SignalPlace>>
signalPlace(const query::Trace &T, const answers::TimedEvent &Event);

llvm::Expected<SearchEnd> searchEvents(const query::Trace &T, uint64_t Kinds,
                                       const SearchOptions &Options,
                                       Visitor<answers::TimedEvent> Visit,
                                       const answers::Cancellation &Cancel);

} // namespace chronicle::questions

#endif
