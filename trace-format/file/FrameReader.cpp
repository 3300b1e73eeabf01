// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/FrameReader.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "llvm/ADT/STLExtras.h"
#include <cinttypes>
#include <cstring>

using namespace llvm;

namespace chronicle::file {

ArrayRef<PageChunkEntry> FrameReader::chunksOf(FrameNumber Frame) const {
  struct ByFrame {
    bool operator()(const PageChunkEntry &E, FrameNumber F) const {
      return E.Frame < F;
    }
    bool operator()(FrameNumber F, const PageChunkEntry &E) const {
      return F < E.Frame;
    }
  };
  auto [First, Last] =
      std::equal_range(Chunks.begin(), Chunks.end(), Frame, ByFrame());
  return ArrayRef(First, Last);
}

Expected<PageChunk> FrameReader::readChunk(const PageChunkEntry &Entry) {
  std::shared_ptr<const RawChunk> Raw = Recent.find(Entry.Offset);
  if (!Raw) {
    Expected<RawPiece> Read =
        File.read(Entry.Offset, PieceType::Pages, Entry.Frame);
    if (!Read)
      return Read.takeError();
    std::shared_ptr<const uint8_t[]> Storage = std::move(Read->Storage);
    const ArrayRef<uint8_t> Bytes(Storage.get(), Read->Size);
    Raw = Recent.add(Entry.Offset, {std::move(Storage), Bytes});
  }
  Expected<PageChunk> C = pieces::decodePageChunk(Entry.Frame, Raw->Bytes);
  if (C)
    C->Storage = Raw->Storage;
  return C;
}

Error FrameReader::readFrame(FrameNumber Frame, BlockNumber N, uint8_t *Page) {
  ArrayRef<PageChunkEntry> OfFrame = chunksOf(Frame);
  auto It = llvm::partition_point(
      OfFrame, [&](const PageChunkEntry &E) { return E.First < N; });
  if (It == OfFrame.begin()) {
    std::memset(Page, 0, PageSize);
    return Error::success();
  }
  // Back to a chunk that has a base, then forward. What is decompressed here is
  // not kept: a replay reads hundreds of pages, most of them once, and memory
  // that is used again and again is in the processor's caches.
  static thread_local SmallVector<uint8_t, 0> Scratch;
  struct Link {
    std::shared_ptr<const RawChunk> Known; ///< or null, and in Scratch:
    size_t Offset, Size;
    ArrayRef<uint8_t> bytes() const {
      return Known ? Known->Bytes : ArrayRef(Scratch).slice(Offset, Size);
    }
  };
  // The indexer begins anew after six chunks. Without a limit, a table that
  // names one chunk again and again would fill the memory.
  constexpr size_t LongestChain = 64;
  SmallVector<Link, 8> Chain;
  Scratch.clear();
  do {
    if (Chain.size() == LongestChain)
      return createStringError("the history of frame 0x%" PRIx64 " is too long",
                               Frame);
    if (It == OfFrame.begin())
      return createStringError(
          "the history of frame 0x%" PRIx64 " has no beginning", Frame);
    --It;
    Link L = {Recent.find(It->Offset), Scratch.size(), 0};
    if (!L.Known) {
      Expected<Piece> P = File.at(It->Offset, PieceType::Pages, Frame);
      if (!P)
        return P.takeError();
      L.Size = P->RawSize;
      Scratch.resize_for_overwrite(L.Offset + L.Size);
      if (Error E = P->readInto(Scratch.data() + L.Offset))
        return E;
    }
    Chain.push_back(std::move(L));
  } while (pieces::continuesChunk(Chain.back().bytes()));
  for (const Link &L : llvm::reverse(Chain))
    if (Error E = pieces::readPage(L.bytes(), N, Page))
      return E;
  return Error::success();
}

} // namespace chronicle::file
