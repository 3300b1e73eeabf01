// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/PageHistory.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::indexer {

void PageHistory::endBlock(BlockNumber N, pieces::BlockHead &Head) {
  for (Page *P : Image.touched()) {
    const pieces::PageChunkWriter::Written Written = {P->Data, P->Dirty,
                                                      P->Changed};
    unsigned Count = 0;
    for (uint64_t Word : P->Dirty)
      Count += popcount(Word);
    // This also holds for a page that was allocated in this block: its zero
    // delta is the only record of what was written before.
    const bool BecameZero = P->Zeroed;
    if (!Count && !BecameZero)
      continue;
    size_t Before = P->Chunk ? P->Chunk->capacity() : 0;
    if (!P->Chunk) {
      P->Chunk = std::make_unique<pieces::PageChunkWriter>(P->Frame, N);
      Opened.push_back(P);
      const bool WasZero = P->Fresh || P->Zeroed;
      if (!WasZero && P->ChainChunks && P->ChainChunks < ChainLimit &&
          P->ChainBytes < ChainBytes) {
        P->Chunk->setContinues();
      } else {
        P->ChainBytes = P->ChainChunks = 0;
        if (!WasZero)
          P->Chunk->setBase(Written);
      }
    }
    if (BecameZero)
      P->Chunk->addZero(N);
    if (Count) {
      P->Chunk->addGranules(N, Written);
      ++Head.DirtyPages;
      Head.DirtyGranules += Count;
    }
    OpenBytes += P->Chunk->capacity() - Before;
    if (P->ChainBytes + P->Chunk->size() > ChunkBytes || !Count)
      close(*P);
  }
}

bool PageHistory::wantsClose() const {
  return OpenBytes >
         std::max(OpenBytesFloor, Image.pageCount() * (PageSize / 2));
}

void PageHistory::close(Page &P) {
  const pieces::PageChunkWriter &Chunk = *P.Chunk;
  ByteWriter Out;
  Out.reserve(Chunk.size() + 16);
  Chunk.encode(Out);
  Record R;
  R.Frame = Chunk.frame();
  R.First = uint32_t(Chunk.first());
  R.Last = uint32_t(Chunk.last());
  R.Piece =
      uint32_t(Writer.append(PieceType::Pages, Chunk.frame(), Out.take()));
  R.Summary = Summaries.size();
  pieces::encodeGranules(Summaries, Chunk.granules());
  Records.push_back(R);
  P.ChainBytes += uint32_t(Chunk.deltaBytes());
  ++P.ChainChunks;
  OpenBytes -= Chunk.capacity();
  P.Chunk.reset();
}

void PageHistory::closeAll() {
  // Chunks are in the order of frames, so that what is read together is close
  // together.
  llvm::erase_if(Opened, [](const Page *P) { return !P->Chunk; });
  llvm::sort(Opened,
             [](const Page *A, const Page *B) { return A->Frame < B->Frame; });
  for (Page *P : Opened)
    if (P->Chunk)
      close(*P);
  Opened.clear();
}

SmallVector<uint8_t, 0> PageHistory::table(uint64_t Pieces) {
  llvm::sort(Records, [](const Record &A, const Record &B) {
    return std::tie(A.Frame, A.First) < std::tie(B.Frame, B.First);
  });
  ByteWriter Out;
  Out.reserve(Records.size() * sizeof(PageChunkEntry));
  for (const Record &R : Records) {
    if (R.Piece >= Pieces)
      continue;
    PageChunkEntry E;
    E.Frame = R.Frame;
    E.First = R.First;
    E.Last = R.Last;
    E.Offset = Writer.offsetOf(R.Piece);
    ByteReader Reader(Summaries.data().drop_front(R.Summary));
    pieces::decodeGranules(Reader, E.Granules);
    Out.bytes(&E, sizeof(E));
  }
  return Out.take();
}

} // namespace chronicle::indexer
