// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/PageChunkFormat.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace llvm;

namespace chronicle {

/// Calls Do(granule) for each bit set.
template <typename Function>
static void forEachGranule(const uint64_t Granules[GranuleWords], Function Do) {
  for (unsigned W = 0; W < GranuleWords; ++W)
    for (uint64_t Bits = Granules[W]; Bits; Bits &= Bits - 1)
      Do(W * 64 + countr_zero(Bits));
}

void encodeGranules(ByteWriter &Out, const uint64_t Granules[GranuleWords]) {
  uint8_t Words = 0;
  for (unsigned W = 0; W < GranuleWords; ++W)
    Words |= uint8_t(Granules[W] != 0) << W;
  Out.u8(Words);
  for (unsigned W = 0; W < GranuleWords; ++W)
    if (Granules[W])
      Out.u64(Granules[W]);
}

void decodeGranules(ByteReader &R, uint64_t Granules[GranuleWords]) {
  uint8_t Words = R.u8();
  for (unsigned W = 0; W < GranuleWords; ++W)
    Granules[W] = Words & (1 << W) ? R.u64() : 0;
}

/// The bytes of a granule that the mask has, and how many they are.
static unsigned pick(const uint8_t *Granule, uint8_t Mask, uint8_t *Out) {
  if (Mask == 0xff) {
    std::memcpy(Out, Granule, GranuleSize);
    return GranuleSize;
  }
  unsigned Count = 0;
  for (unsigned Bits = Mask; Bits; Bits &= Bits - 1)
    Out[Count++] = Granule[countr_zero(Bits)];
  return Count;
}

void PageChunkWriter::setBase(const Written &W) {
  uint8_t *Image = Body.grow(PageSize);
  std::memcpy(Image, W.Page, PageSize);
  forEachGranule(W.Granules, [&](unsigned G) {
    for (unsigned Bits = W.Masks[G]; Bits; Bits &= Bits - 1)
      Image[G * GranuleSize + countr_zero(Bits)] = 0;
  });
  BaseSize = PageSize;
}

void PageChunkWriter::startDelta(BlockNumber Block, uint8_t Kind) {
  Body.v(Block - (Deltas ? Last : First));
  Body.u8(Kind);
  Last = Block;
  ++Deltas;
}

void PageChunkWriter::addZero(BlockNumber Block) {
  startDelta(Block, ZeroDelta);
  std::fill(Summary, Summary + GranuleWords, ~uint64_t(0));
}

void PageChunkWriter::addGranules(BlockNumber Block, const Written &W) {
  startDelta(Block, GranulesDelta);
  encodeGranules(Body, W.Granules);
  unsigned Count = 0;
  for (unsigned I = 0; I < GranuleWords; ++I) {
    Summary[I] |= W.Granules[I];
    Count += popcount(W.Granules[I]);
  }
  // Masks and bytes apart: each is more like its neighbours then.
  size_t Start = Body.size();
  uint8_t *Mask = Body.grow(size_t(Count) * (1 + GranuleSize));
  uint8_t *Out = Mask + Count;
  forEachGranule(W.Granules, [&](unsigned G) {
    *Mask++ = W.Masks[G];
    Out += pick(W.Page + G * GranuleSize, W.Masks[G], Out);
  });
  Body.truncate(Start + size_t(Out - (Mask - Count)));
}

void PageChunkWriter::encode(ByteWriter &Out) const {
  Out.v(Frame);
  Out.v(First);
  Out.u8(BaseSize ? 1 : 0);
  Out.bytes(Body.data().take_front(BaseSize));
  Out.v(Deltas);
  Out.bytes(Body.data().drop_front(BaseSize));
}

PageChunkReader::PageChunkReader(ByteReader &R) : R(R) {
  Frame = R.v();
  First = Block = R.v();
  const uint8_t Base = R.u8();
  if (Base == 1)
    Image = R.bytes(PageSize);
  Left = R.v();
  // Every delta takes two bytes at least.
  if (Base > 1 || Left > R.left() / 2)
    R.fail();
}

bool PageChunkReader::next(PageDelta &D) {
  if (!Left || R.failed())
    return false;
  --Left;
  D.Block = Block += R.v();
  D.Kind = R.u8();
  D.Masks = D.Bytes = {};
  switch (D.Kind) {
  case GranulesDelta: {
    decodeGranules(R, D.Granules);
    unsigned Granules = 0, Changed = 0;
    for (uint64_t Word : D.Granules)
      Granules += popcount(Word);
    D.Masks = R.bytes(Granules);
    for (uint8_t Mask : D.Masks)
      Changed += popcount(Mask);
    D.Bytes = R.bytes(Changed);
    break;
  }
  case ZeroDelta:
  case ImageDelta:
    std::fill(D.Granules, D.Granules + GranuleWords, 0);
    if (D.Kind == ImageDelta)
      D.Bytes = R.bytes(PageSize);
    break;
  default:
    R.fail();
  }
  return !R.failed();
}

Expected<PageChunk> decodePageChunk(ByteReader &R) {
  PageChunkReader Reader(R);
  PageChunk C;
  C.Frame = Reader.frame();
  C.First = Reader.first();
  C.Image = Reader.image();
  if (!R.failed())
    C.Deltas.reserve(Reader.deltasLeft());
  for (PageDelta D; Reader.next(D);)
    C.Deltas.push_back(D);
  if (R.failed())
    return createStringError("a damaged page chunk");
  return C;
}

void applyDelta(const PageDelta &Delta, uint8_t *Page) {
  switch (Delta.Kind) {
  case GranulesDelta: {
    const uint8_t *In = Delta.Bytes.data(), *Mask = Delta.Masks.data();
    forEachGranule(Delta.Granules, [&](unsigned G) {
      uint8_t *To = Page + G * GranuleSize;
      if (*Mask == 0xff) {
        std::memcpy(To, In, GranuleSize);
        In += GranuleSize;
      } else {
        for (unsigned Bits = *Mask; Bits; Bits &= Bits - 1)
          To[countr_zero(Bits)] = *In++;
      }
      ++Mask;
    });
    break;
  }
  case ZeroDelta:
    std::memset(Page, 0, PageSize);
    break;
  case ImageDelta:
    std::memcpy(Page, Delta.Bytes.data(), PageSize);
    break;
  }
}

} // namespace chronicle
