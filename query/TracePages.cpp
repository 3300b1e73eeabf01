// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/TracePages.h"
#include "trace-format/PageChunkFormat.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

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
  ArrayRef<PageChunkEntry> Chunks = Trace.pageChunks();
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

void mapSharedObjects(const TraceReader &Trace, BlockNumber N,
                      ReplayMemory &Memory) {
  for (const TimelineEvent &E : Trace.timeline()) {
    if (E.Block >= N)
      break;
    if (E.Kind == CH_EV_MAP && E.Payload.size() >= sizeof(ch_ev_map)) {
      Memory.mapShared(loadValue<ch_ev_map>(E.Payload.data()));
    } else if (E.Kind == CH_EV_UNMAP &&
               E.Payload.size() >= sizeof(ch_ev_range)) {
      auto Range = loadValue<ch_ev_range>(E.Payload.data());
      Memory.unmapShared(Range.address, Range.length);
    }
  }
}

uint64_t DeltaCursor::Position::bytes() const {
  uint64_t Sum = Chunk.Image.size() + sizeof(*this);
  for (const PageDelta &D : Chunk.Deltas)
    Sum += sizeof(D) + D.Masks.size() + D.Bytes.size();
  return Sum;
}

void DeltaCursor::clear() {
  Positions.clear();
  Bytes = 0;
}

Expected<DeltaCursor::Change> DeltaCursor::change(FrameNumber Frame,
                                                  BlockNumber N) {
  std::unique_ptr<Position> &Slot = Positions[Frame];
  if (!Slot) {
    Slot = std::make_unique<Position>();
    Slot->Chunks = Trace.pageChunksOf(Frame);
  }
  Position &P = *Slot;
  if (!P.Chunks.empty() && P.Chunks.front().Last < N) {
    P.Chunks = P.Chunks.drop_front(
        partition_point(P.Chunks, [&](auto &E) { return E.Last < N; }) -
        P.Chunks.begin());
    if (P.Decoded) {
      assert(Bytes >= P.bytes() && "was never counted");
      Bytes -= P.bytes();
    }
    P.Chunk = PageChunk();
    P.Decoded = false;
  }
  if (P.Chunks.empty() || P.Chunks.front().First > N)
    return Change();
  if (!P.Decoded) {
    Expected<PageChunk> Chunk = Trace.readPageChunk(P.Chunks.front());
    if (!Chunk)
      return Chunk.takeError();
    P.Chunk = std::move(*Chunk);
    P.Decoded = true;
    P.Applied = 0;
    if (!P.Chunk.Image.empty())
      std::memcpy(P.Page, P.Chunk.Image.data(), PageSize);
    else if (Error E = Trace.readFrame(Frame, P.Chunk.First, P.Page))
      return E;
    Bytes += P.bytes();
  }
  ArrayRef<PageDelta> Deltas = P.Chunk.Deltas;
  // Blocks are asked for in their order: it is near the last one.
  size_t First = P.Applied;
  while (First > 0 && Deltas[First - 1].Block >= N)
    --First;
  while (First < Deltas.size() && Deltas[First].Block < N)
    ++First;
  size_t End = First;
  while (End < Deltas.size() && Deltas[End].Block == N)
    ++End;
  if (First == End)
    return Change();
  while (P.Applied < End)
    applyDelta(Deltas[P.Applied++], P.Page);
  return Change{Deltas.slice(First, End - First), P.Page};
}

} // namespace chronicle
