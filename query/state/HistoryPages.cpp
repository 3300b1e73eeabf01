// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/HistoryPages.h"

using namespace llvm;

namespace chronicle::state {

Expected<bool> HistoryPages::readFrame(FrameNumber Frame, BlockNumber N,
                                       uint8_t *Page) {
  if (N != History->block().Number)
    return Fallback.readFrame(Frame, N, Page);
  return History->readFrame(Frame, Start, Page);
}

Expected<const uint8_t *> HistoryPages::lendFrame(FrameNumber Frame,
                                                  BlockNumber N) {
  if (N != History->block().Number)
    return nullptr;
  return History->page(Frame, Start);
}

void HistoryPages::visitFrames(FrameNumber First, FrameNumber Last,
                               function_ref<void(FrameNumber)> Visit) {
  Fallback.visitFrames(First, Last, Visit);
}

} // namespace chronicle::state
