// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a replay differs from the recorded run.

#ifndef CHRONICLE_QUERY_REPLAY_MISMATCH_H
#define CHRONICLE_QUERY_REPLAY_MISMATCH_H

#include "trace-format/TraceData.h"
#include <string>

namespace chronicle::replay {

/// A place where replay does not arrive at what was recorded.
struct Mismatch {
  BlockNumber Block = 0;
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint32_t Superblock = 0; ///< the last one that ran; 0: none
  uint64_t SuperblockAddress = 0;
  std::string What;
};

/// Describes the first difference between two states of a thread that should be
/// equal; empty if they are. Leaves out the registers that a replayed program
/// cannot see: emulation notes, and the ranges that cache flushes and
/// redirections work on.
std::string describeDifference(const uint8_t *Found, const uint8_t *Expected);

} // namespace chronicle::replay

#endif
