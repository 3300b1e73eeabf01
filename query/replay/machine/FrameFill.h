// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Changes of whole frames at once.

#ifndef CHRONICLE_QUERY_REPLAY_MACHINE_FRAMEFILL_H
#define CHRONICLE_QUERY_REPLAY_MACHINE_FRAMEFILL_H

#include "trace-format/TraceData.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace chronicle::machine {

/// A change of whole frames at once that costs nothing until one of them is
/// touched: they become zero, or get what they hold at the start of a block.
struct FrameFill {
  FrameNumber First, Last;
  std::optional<BlockNumber> From; ///< nothing: they become zero
  bool covers(FrameNumber Number) const {
    return First <= Number && Number <= Last;
  }
};
/// The last fill that covers the frame, or null.
const FrameFill *lastFill(llvm::ArrayRef<FrameFill> Fills, FrameNumber Number);

} // namespace chronicle::machine

#endif
