// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/BlockCandidates.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::search {

ChunkSource writtenChunks(const file::TraceReader &Reader,
                          const state::ChunkSummaries &Summaries) {
  return {Reader.pageChunks(), Summaries,
          [&Reader](const PageChunkEntry &E, const WatchedFrames::Frame &Frame,
                    BlockNumber First, BlockNumber Last,
                    std::vector<BlockNumber> &Found) -> Error {
            Expected<PageChunk> Chunk = Reader.readPageChunk(E);
            if (!Chunk)
              return Chunk.takeError();
            for (const PageDelta &D : Chunk->Deltas)
              if (D.Block >= First && D.Block <= Last &&
                  (D.Kind != GranulesDelta || Frame.covers(D.Granules)))
                Found.push_back(D.Block);
            return Error::success();
          }};
}

BlockCandidates::BlockCandidates(ChunkSource From, const WatchedFrames &Watched,
                                 BlockNumber First, BlockNumber Last,
                                 bool Backward, ArrayRef<BlockNumber> More)
    : Source(std::move(From)), Backward(Backward), Queue(Later{Backward}) {
  ArrayRef<PageChunkEntry> Chunks = Source.Chunks;
  for (const WatchedFrames::Frame &F : Watched.frames()) {
    Place P;
    P.Frame = &F;
    P.First = std::max(First, F.Since);
    P.Last = std::min(Last, F.Until);
    if (P.First > P.Last)
      continue;
    auto Begin = partition_point(Chunks, [&](const PageChunkEntry &E) {
      return E.Frame < F.Number || (E.Frame == F.Number && E.Last < P.First);
    });
    auto End =
        std::partition_point(Begin, Chunks.end(), [&](const PageChunkEntry &E) {
          return E.Frame == F.Number && E.First <= P.Last;
        });
    if (Begin == End)
      continue;
    P.Chunk = Begin - Chunks.begin();
    P.EndChunk = End - Chunks.begin();
    Places.push_back(std::move(P));
  }
  for (size_t I = 0; I < Places.size(); ++I)
    enqueue(I);
  for (BlockNumber N : More)
    if (N >= First && N <= Last)
      Others.push_back(N);
  if (!Backward)
    std::reverse(Others.begin(), Others.end());
}

/// A chunk that was not read yet is in the queue with the nearest block that it
/// may hold, so that a chunk is read only when its turn comes.
void BlockCandidates::enqueue(size_t I) {
  Place &P = Places[I];
  if (!P.Blocks.empty()) {
    Queue.push({P.Blocks.back(), I});
    return;
  }
  const uint64_t *Wanted = P.Frame->Granules;
  if (Backward)
    P.EndChunk = Source.Summaries.previous(P.Chunk, P.EndChunk, Wanted);
  else
    P.Chunk = Source.Summaries.next(P.Chunk, P.EndChunk, Wanted);
  if (P.Chunk == P.EndChunk)
    return;
  ArrayRef<PageChunkEntry> All = Source.Chunks;
  Queue.push({Backward ? std::min(All[P.EndChunk - 1].Last, P.Last)
                       : std::max(All[P.Chunk].First, P.First),
              I});
}

Error BlockCandidates::open(Place &P) {
  const PageChunkEntry &E = Source.Chunks[Backward ? --P.EndChunk : P.Chunk++];
  if (Error Failed = Source.Blocks(E, *P.Frame, P.First, P.Last, P.Blocks))
    return Failed;
  P.Blocks.erase(llvm::unique(P.Blocks), P.Blocks.end());
  if (!Backward)
    std::reverse(P.Blocks.begin(), P.Blocks.end());
  return Error::success();
}

Expected<std::optional<BlockNumber>> BlockCandidates::next() {
  auto IsNew = [&](BlockNumber N) { return !Previous || N != *Previous; };
  while (!Queue.empty() || !Others.empty()) {
    const bool OtherIsNext =
        !Others.empty() &&
        (Queue.empty() || (Backward ? Others.back() >= Queue.top().Block
                                    : Others.back() <= Queue.top().Block));
    BlockNumber Found;
    if (OtherIsNext) {
      Found = Others.back();
      Others.pop_back();
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

Error BlockCandidates::visit(function_ref<Expected<bool>(BlockNumber)> Visit,
                             const answers::Cancellation *Cancel) {
  while (!Cancel || !Cancel->Cancelled) {
    Expected<std::optional<BlockNumber>> N = next();
    if (!N)
      return N.takeError();
    if (!*N)
      break;
    Expected<bool> More = Visit(**N);
    if (!More)
      return More.takeError();
    if (!*More)
      break;
  }
  return Error::success();
}

} // namespace chronicle::search
