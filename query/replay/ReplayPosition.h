// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A place in the replay of a block that another replay can continue from.

#ifndef CHRONICLE_QUERY_REPLAY_REPLAYPOSITION_H
#define CHRONICLE_QUERY_REPLAY_REPLAYPOSITION_H

#include "trace-format/Stream.h"
#include "trace-format/TraceData.h"
#include <array>
#include <vector>

namespace chronicle::replay {

using GuestState = std::array<uint8_t, CH_GUEST_STATE_SIZE>;

/// Where a replay is, between two superblocks. With the memory of that moment,
/// another replay can continue from here. Takes about a kilobyte per thread.
struct ReplayPosition {
  Timestamp Time = 0;
  uint64_t Execution = 0;
  size_t NextEvent = 0;
  size_t OpaqueLeft = 0;
  uint32_t Current = 0;
  std::vector<std::pair<uint32_t, GuestState>> States; ///< by thread
  std::vector<const Event *> Pending;
};

} // namespace chronicle::replay

#endif
