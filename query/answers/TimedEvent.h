// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// An event and the moment it happened.

#ifndef CHRONICLE_QUERY_ANSWERS_TIMEDEVENT_H
#define CHRONICLE_QUERY_ANSWERS_TIMEDEVENT_H

#include "trace-format/TraceData.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace chronicle::answers {

/// An event with its time. Payload as in trace-format/Stream.h.
struct TimedEvent {
  Timestamp Time = 0;
  BlockNumber Block = 0;
  uint32_t Kind = 0;
  std::vector<uint8_t> Payload;

  /// The event as one of the types of trace-format/events/Events.h, or nothing.
  /// What it points to lives as long as this.
  template <typename T> std::optional<T> as() const {
    return T::decode(Kind, Payload);
  }
};

} // namespace chronicle::answers

#endif
