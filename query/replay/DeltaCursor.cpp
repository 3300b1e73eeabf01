// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/DeltaCursor.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::replay {

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
      assert(Bytes >= P.bytes() && "the chunk was never counted");
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
  // Callers ask in the order of blocks, so it is near the last one.
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
    pieces::applyDelta(Deltas[P.Applied++], P.Page);
  return Change{Deltas.slice(First, End - First), P.Page};
}

} // namespace chronicle::replay
