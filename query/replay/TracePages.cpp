// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/TracePages.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::replay {

Expected<bool> TracePages::readFrame(FrameNumber Frame, BlockNumber N,
                                     uint8_t *Page) {
  if (Trace.pageChunksOf(Frame).empty())
    return false;
  if (Error E = Trace.readFrame(Frame, N, Page))
    return E;
  return true;
}

void TracePages::visitFrames(FrameNumber First, FrameNumber Last,
                             function_ref<void(FrameNumber)> Visit) {
  replay::visitFrames(Trace.pageChunks(), First, Last, Visit);
}

void visitFrames(ArrayRef<PageChunkEntry> Chunks, FrameNumber First,
                 FrameNumber Last, function_ref<void(FrameNumber)> Visit) {
  auto It = partition_point(
      Chunks, [&](const PageChunkEntry &E) { return E.Frame < First; });
  while (It != Chunks.end() && It->Frame <= Last) {
    const FrameNumber Frame = It->Frame;
    Visit(Frame);
    // Most frames have a few chunks, some have thousands.
    auto IsBehind = [&](const PageChunkEntry &E) { return E.Frame <= Frame; };
    size_t Step = 1;
    while (Step < size_t(Chunks.end() - It) && IsBehind(It[Step]))
      Step *= 2;
    It = std::partition_point(It + Step / 2,
                              It + std::min<size_t>(Step, Chunks.end() - It),
                              IsBehind);
  }
}

void mapSharedObjects(const file::TraceReader &Trace, BlockNumber N,
                      machine::ReplayMemory &Memory) {
  for (const TimelineEvent &E : Trace.timeline()) {
    if (E.Block >= N)
      break;
    if (auto Map = E.as<events::MapEvent>())
      Memory.mapShared(*Map);
    else if (auto Range = E.as<events::UnmapEvent>())
      Memory.unmapShared(Range->address, Range->length);
  }
}

} // namespace chronicle::replay
