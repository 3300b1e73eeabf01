// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/PageChunkFormat.h"
#include "trace-format/GranuleBytes.h"
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

/// As spreadBytes, but reads no more than the mask has.
static void putBytes(const uint8_t *In, uint8_t Mask, uint8_t *Granule) {
  if (Mask == 0xff) {
    std::memcpy(Granule, In, GranuleSize);
    return;
  }
  for (unsigned Bits = Mask; Bits; Bits &= Bits - 1)
    Granule[countr_zero(Bits)] = *In++;
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

void PageChunkWriter::setBase(const Written &W) {
  uint8_t *Image = Body.grow(PageSize);
  std::memcpy(Image, W.Page, PageSize);
  forEachGranule(W.Granules, [&](unsigned G) {
    for (unsigned Bits = W.Masks[G]; Bits; Bits &= Bits - 1)
      Image[G * GranuleSize + countr_zero(Bits)] = 0;
  });
  Base = ImageBase;
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
    gatherBytes(W.Page + G * GranuleSize, W.Masks[G], Out);
    Out += popcount(W.Masks[G]);
  });
  Body.truncate(Start + size_t(Out - (Mask - Count)));
}

void PageChunkWriter::encode(ByteWriter &Out) const {
  Out.v(First);
  Out.u8(Base);
  const size_t ImageSize = Base == ImageBase ? PageSize : 0;
  Out.bytes(Body.data().take_front(ImageSize));
  Out.v(Deltas);
  Out.bytes(Body.data().drop_front(ImageSize));
}

PageChunkReader::PageChunkReader(ByteReader &R) : R(R) {
  First = Block = R.v();
  const uint8_t Kind = R.u8();
  Base = ChunkBase(Kind);
  if (Kind == ImageBase)
    Image = R.bytes(PageSize);
  Left = R.v();
  // Every delta takes two bytes at least.
  if (Kind > ContinuesBase || Left > R.left() / 2)
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
    size_t I = 0;
    for (; I + 8 <= D.Masks.size(); I += 8)
      Changed += popcount(support::endian::read64le(D.Masks.data() + I));
    for (; I < D.Masks.size(); ++I)
      Changed += popcount(D.Masks[I]);
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

static Error damaged() { return createStringError("a damaged page chunk"); }

Expected<PageChunk> decodePageChunk(FrameNumber Frame, ArrayRef<uint8_t> Raw) {
  ByteReader R(Raw);
  PageChunkReader Reader(R);
  PageChunk C;
  C.Frame = Frame;
  C.First = Reader.first();
  C.Image = Reader.image();
  if (!R.failed())
    C.Deltas.reserve(Reader.deltasLeft());
  for (PageDelta D; Reader.next(D);)
    C.Deltas.push_back(D);
  if (R.failed() || !R.atEnd())
    return damaged();
  return C;
}

/// Puts a delta's bytes in their places, a granule after the other, and returns
/// what is behind them; null if there are not enough. Spread reads 8 bytes for
/// each granule, however few it has.
template <bool Spread>
static const uint8_t *putGranules(const uint8_t *Words, unsigned WordBits,
                                  const uint8_t *Mask, const uint8_t *In,
                                  const uint8_t *End, uint8_t *Page) {
  for (; WordBits; WordBits &= WordBits - 1, Words += 8) {
    uint8_t *Stretch = Page + countr_zero(WordBits) * 64 * GranuleSize;
    for (uint64_t Left = support::endian::read64le(Words); Left;
         Left &= Left - 1, ++Mask) {
      uint8_t *To = Stretch + countr_zero(Left) * GranuleSize;
      const unsigned Bytes = popcount(*Mask);
      if (Spread) {
        spreadBytes(In, *Mask, To);
      } else {
        if (size_t(End - In) < Bytes)
          return nullptr;
        putBytes(In, *Mask, To);
      }
      In += Bytes;
    }
  }
  return In;
}

/// Applies the granules delta at P, behind its kind, and returns what is behind
/// it; null if it is damaged. What PageChunkReader and applyDelta do together,
/// in a quarter of the time: a replay reads hundreds of pages, each through a
/// hundred deltas of a granule or two.
static const uint8_t *applyGranules(const uint8_t *P, const uint8_t *End,
                                    uint8_t *Page) {
  if (P == End)
    return nullptr;
  const unsigned WordBits = *P++;
  const uint8_t *const Words = P;
  if (size_t(End - P) < size_t(popcount(WordBits)) * 8)
    return nullptr;
  unsigned Count = 0;
  for (unsigned Bits = WordBits; Bits; Bits &= Bits - 1, P += 8)
    Count += popcount(support::endian::read64le(P));
  // Near the end of the chunk there may be less to read than a shuffle takes.
  if (LLVM_LIKELY(size_t(End - P) >= Count * (1 + GranuleSize)))
    return putGranules<true>(Words, WordBits, P, P + Count, End, Page);
  if (size_t(End - P) < Count)
    return nullptr;
  return putGranules<false>(Words, WordBits, P, P + Count, End, Page);
}

bool continuesChunk(ArrayRef<uint8_t> Raw) {
  ByteReader R(Raw);
  return PageChunkReader(R).base() == ContinuesBase && !R.failed();
}

Error readPage(ArrayRef<uint8_t> Raw, BlockNumber N, uint8_t *Page) {
  ByteReader R(Raw);
  PageChunkReader Chunk(R);
  if (!Chunk.image().empty())
    std::memcpy(Page, Chunk.image().data(), PageSize);
  else if (Chunk.base() == ZeroBase)
    std::memset(Page, 0, PageSize);
  BlockNumber Block = Chunk.first();
  for (uint64_t Left = Chunk.deltasLeft(); Left && !R.failed(); --Left) {
    Block += R.v();
    if (Block >= N)
      break;
    switch (R.u8()) {
    case GranulesDelta: {
      const ArrayRef<uint8_t> Rest = R.rest();
      if (const uint8_t *Next = applyGranules(Rest.begin(), Rest.end(), Page))
        R = ByteReader({Next, Rest.end()});
      else
        R.fail();
      break;
    }
    case ZeroDelta:
      std::memset(Page, 0, PageSize);
      break;
    case ImageDelta:
      if (ArrayRef<uint8_t> Image = R.bytes(PageSize); !Image.empty())
        std::memcpy(Page, Image.data(), PageSize);
      break;
    default:
      R.fail();
    }
  }
  return R.failed() ? damaged() : Error::success();
}

void applyDelta(const PageDelta &Delta, uint8_t *Page) {
  switch (Delta.Kind) {
  case GranulesDelta: {
    const uint8_t *In = Delta.Bytes.begin(), *Mask = Delta.Masks.begin();
    forEachGranule(Delta.Granules, [&](unsigned G) {
      putBytes(In, *Mask, Page + G * GranuleSize);
      In += popcount(*Mask++);
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
