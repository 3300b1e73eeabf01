// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace's memory for replay: what frames hold at the start of blocks.

#ifndef CHRONICLE_QUERY_REPLAY_TRACEPAGES_H
#define CHRONICLE_QUERY_REPLAY_TRACEPAGES_H

#include "query/replay/machine/ReplayMemory.h"
#include "trace-format/file/TraceReader.h"

namespace chronicle::replay {

/// Calls Visit for each frame from First to Last that has a chunk. The chunks
/// are sorted by frame.
void visitFrames(llvm::ArrayRef<PageChunkEntry> Chunks, FrameNumber First,
                 FrameNumber Last, llvm::function_ref<void(FrameNumber)> Visit);

/// Reads frames from the page chunks: one chunk per frame.
class TracePages : public machine::PageSource {
public:
  explicit TracePages(const file::TraceReader &Trace) : Trace(Trace) {}
  llvm::Expected<bool> readFrame(FrameNumber Frame, BlockNumber N,
                                 uint8_t *Page) override;
  void visitFrames(FrameNumber First, FrameNumber Last,
                   llvm::function_ref<void(FrameNumber)> Visit) override;

private:
  const file::TraceReader &Trace;
};

/// Maps the shared objects that are mapped at the start of block N.
void mapSharedObjects(const file::TraceReader &Trace, BlockNumber N,
                      machine::ReplayMemory &Memory);

} // namespace chronicle::replay

#endif
