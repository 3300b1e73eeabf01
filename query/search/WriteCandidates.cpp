// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WriteCandidates.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

WriteCandidates::WriteCandidates(const file::TraceReader &Reader,
                                 const state::ChunkSummaries &Summaries,
                                 const WatchedFrames &Watched,
                                 BlockNumber First, BlockNumber Last,
                                 bool Backward)
    : Reader(Reader), Summaries(Summaries), Backward(Backward),
      Queue(Later{Backward}) {
  for (const WatchedFrames::Frame &F : Watched.frames()) {
    Place P;
    P.Frame = &F;
    P.First = std::max(First, F.Since);
    P.Last = std::min(Last, F.Until);
    if (P.First > P.Last)
      continue;
    ArrayRef<PageChunkEntry> All = Reader.pageChunksOf(F.Number);
    auto From = partition_point(
        All, [&](const PageChunkEntry &E) { return E.Last < P.First; });
    auto To = partition_point(
        All, [&](const PageChunkEntry &E) { return E.First <= P.Last; });
    if (From >= To)
      continue;
    P.Chunk = From - Reader.pageChunks().begin();
    P.EndChunk = To - Reader.pageChunks().begin();
    Places.push_back(std::move(P));
  }
  for (size_t I = 0; I < Places.size(); ++I)
    enqueue(I);
  for (BlockNumber N : Watched.moves())
    if (N >= First && N <= Last)
      Moves.push_back(N);
  // The page chunks may not say what the last block wrote: then it may be
  // anything.
  const BlockNumber End = Reader.blocks().size() - 1;
  if (Last >= End && First <= End &&
      (Reader.blocks()[End].Kinds & uint64_t(1) << CH_EV_STORED) &&
      (Moves.empty() || Moves.back() != End))
    Moves.push_back(End);
  if (!Backward)
    std::reverse(Moves.begin(), Moves.end());
}

/// A chunk that was not read yet is in the queue with the nearest block that it
/// may hold, so that a chunk is read only when its turn comes.
void WriteCandidates::enqueue(size_t I) {
  Place &P = Places[I];
  if (!P.Blocks.empty()) {
    Queue.push({P.Blocks.back(), I});
    return;
  }
  const uint64_t *Wanted = P.Frame->Granules;
  if (Backward)
    P.EndChunk = Summaries.previous(P.Chunk, P.EndChunk, Wanted);
  else
    P.Chunk = Summaries.next(P.Chunk, P.EndChunk, Wanted);
  if (P.Chunk == P.EndChunk)
    return;
  ArrayRef<PageChunkEntry> All = Reader.pageChunks();
  Queue.push({Backward ? std::min(All[P.EndChunk - 1].Last, P.Last)
                       : std::max(All[P.Chunk].First, P.First),
              I});
}

Error WriteCandidates::open(Place &P) {
  const PageChunkEntry &E =
      Reader.pageChunks()[Backward ? --P.EndChunk : P.Chunk++];
  Expected<PageChunk> Chunk = Reader.readPageChunk(E);
  if (!Chunk)
    return Chunk.takeError();
  for (const PageDelta &D : Chunk->Deltas) {
    if (D.Block < P.First || D.Block > P.Last ||
        (D.Kind == GranulesDelta && !P.Frame->covers(D.Granules)))
      continue;
    if (P.Blocks.empty() || P.Blocks.back() != D.Block)
      P.Blocks.push_back(D.Block);
  }
  if (!Backward)
    std::reverse(P.Blocks.begin(), P.Blocks.end());
  return Error::success();
}

Expected<std::optional<BlockNumber>> WriteCandidates::next() {
  auto IsNew = [&](BlockNumber N) { return !Previous || N != *Previous; };
  while (!Queue.empty() || !Moves.empty()) {
    const bool MoveIsNext =
        !Moves.empty() &&
        (Queue.empty() || (Backward ? Moves.back() >= Queue.top().Block
                                    : Moves.back() <= Queue.top().Block));
    BlockNumber Found;
    if (MoveIsNext) {
      Found = Moves.back();
      Moves.pop_back();
    } else {
      Item Top = Queue.top();
      Queue.pop();
      Place &P = Places[Top.Place];
      if (P.Blocks.empty()) {
        if (Error E = open(P))
          return E;
        enqueue(Top.Place);
        continue;
      }
      Found = P.Blocks.back();
      P.Blocks.pop_back();
      enqueue(Top.Place);
    }
    if (!IsNew(Found))
      continue;
    Previous = Found;
    return Found;
  }
  return std::nullopt;
}

} // namespace chronicle::search
