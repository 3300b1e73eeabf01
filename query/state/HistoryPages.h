// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory that a replay from a checkpoint starts with.

#ifndef CHRONICLE_QUERY_STATE_HISTORYPAGES_H
#define CHRONICLE_QUERY_STATE_HISTORYPAGES_H

#include "query/replay/TracePages.h"
#include "query/state/BlockHistory.h"

namespace chronicle::state {

/// The memory of a replay that starts at a checkpoint of a block.
class HistoryPages : public machine::PageSource {
public:
  explicit HistoryPages(const file::TraceReader &Reader) : Fallback(Reader) {}
  void setStart(BlockHistory &H, size_t Checkpoint) {
    History = &H;
    Start = Checkpoint;
  }
  llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                 uint8_t *Page) override;
  llvm::Expected<const uint8_t *> lendFrame(FrameNumber Frame,
                                            BlockNumber N) override;
  void visitFrames(FrameNumber First, FrameNumber Last,
                   llvm::function_ref<void(FrameNumber)> Visit) override;

private:
  replay::TracePages Fallback;
  BlockHistory *History = nullptr;
  size_t Start = 0;
};

} // namespace chronicle::state

#endif
