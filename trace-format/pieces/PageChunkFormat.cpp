// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/pieces/PageChunkFormat.h"
#include "trace-format/GranuleBytes.h"
#include "llvm/ADT/bit.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::pieces {

/// Calls Do(granule) for each bit set.
template <typename Function>
static void forEachGranule(const uint64_t Granules[GranuleWords], Function Do) {
  for (unsigned W = 0; W < GranuleWords; ++W)
    for (uint64_t Bits = Granules[W]; Bits; Bits &= Bits - 1)
      Do(W * 64 + countr_zero(Bits));
}

/// Does what spreadBytes does, but reads no more than the mask has.
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

/// Encodes few granules as a list of places, which is shorter than words of
/// bits. Returns the kind of the delta, or 0 if the granules are too many or
/// too far apart.
static uint8_t listGranules(const uint64_t Granules[GranuleWords],
                            unsigned Count, uint8_t *Places) {
  if (Count == 0 || Count > MaxFewGranules)
    return 0;
  uint8_t Kind = uint8_t(FewGranules | Count);
  unsigned Next = 0; // what a place of 0 would be
  bool Apart = false;
  forEachGranule(Granules, [&](unsigned G) {
    if (Next == 0 && G >= 256) {
      Kind |= FewUpperHalf;
      Next = 256;
    }
    Apart |= G - Next > 255;
    *Places++ = uint8_t(G - Next);
    Next = G + 1;
  });
  return Apart ? 0 : Kind;
}

void PageChunkWriter::addGranules(BlockNumber Block, const Written &W) {
  unsigned Count = 0;
  for (unsigned I = 0; I < GranuleWords; ++I) {
    Summary[I] |= W.Granules[I];
    Count += popcount(W.Granules[I]);
  }
  uint8_t Places[MaxFewGranules];
  if (uint8_t Few = listGranules(W.Granules, Count, Places)) {
    startDelta(Block, Few);
    Body.bytes(Places, Count);
  } else {
    startDelta(Block, GranulesDelta);
    encodeGranules(Body, W.Granules);
  }
  // Masks and bytes are apart, because they compress better among their own
  // kind.
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

/// The opposite of listGranules(). Returns false if a place is beyond the page.
static bool decodePlaces(uint8_t Kind, ArrayRef<uint8_t> Places,
                         uint64_t Granules[GranuleWords]) {
  std::fill(Granules, Granules + GranuleWords, 0);
  unsigned Next = Kind & FewUpperHalf ? 256 : 0;
  for (uint8_t Place : Places) {
    const unsigned G = Next + Place;
    if (G >= GranulesPerPage)
      return false;
    Granules[G / 64] |= uint64_t(1) << G % 64;
    Next = G + 1;
  }
  return true;
}

bool PageChunkReader::next(PageDelta &D) {
  if (!Left || R.failed())
    return false;
  --Left;
  D.Block = Block += R.v();
  D.Kind = R.u8();
  D.Masks = D.Bytes = {};
  const uint8_t Few = D.Kind & FewGranules ? D.Kind : 0;
  if (Few)
    D.Kind = GranulesDelta;
  switch (D.Kind) {
  case GranulesDelta: {
    if (!Few)
      decodeGranules(R, D.Granules);
    else if (!decodePlaces(Few, R.bytes(Few & MaxFewGranules), D.Granules))
      R.fail();
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

static Error damagedChunk() {
  return createStringError("a damaged page chunk");
}

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
    return damagedChunk();
  return C;
}

/// Puts a granule's bytes in their places, and In behind them. Returns false if
/// there are not enough. A spread always reads 8 bytes.
template <bool Spread>
static bool putGranule(const uint8_t *&In, uint8_t Mask, const uint8_t *End,
                       uint8_t *To) {
  const unsigned Bytes = popcount(Mask);
  if (Spread) {
    spreadBytes(In, Mask, To);
  } else {
    if (size_t(End - In) < Bytes)
      return false;
    putBytes(In, Mask, To);
  }
  In += Bytes;
  return true;
}

/// The same for all granules of a delta. Returns what is behind their bytes, or
/// null.
template <bool Spread>
static const uint8_t *putGranules(const uint8_t *Words, unsigned WordBits,
                                  const uint8_t *Mask, const uint8_t *In,
                                  const uint8_t *End, uint8_t *Page) {
  for (; WordBits; WordBits &= WordBits - 1, Words += 8) {
    uint8_t *Stretch = Page + countr_zero(WordBits) * 64 * GranuleSize;
    for (uint64_t Left = support::endian::read64le(Words); Left;
         Left &= Left - 1, ++Mask) {
      if (!putGranule<Spread>(In, *Mask, End,
                              Stretch + countr_zero(Left) * GranuleSize))
        return nullptr;
    }
  }
  return In;
}

/// Applies the granules delta at P, behind its kind, and returns what is behind
/// it, or null if it is damaged. Does what PageChunkReader and applyDelta do
/// together in a quarter of the time: a replay reads hundreds of pages, each
/// through a hundred deltas of one or two granules.
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

/// The same for few granules, which most deltas are: P is behind the kind.
static const uint8_t *applyFew(uint8_t Kind, const uint8_t *P,
                               const uint8_t *End, uint8_t *Page) {
  const size_t Count = Kind & MaxFewGranules;
  if (size_t(End - P) < 2 * Count)
    return nullptr;
  const uint8_t *Mask = P + Count, *In = Mask + Count;
  const bool Spread = size_t(End - In) >= Count * GranuleSize;
  uint8_t *const PageEnd = Page + PageSize;
  uint8_t *To = Page + (Kind & FewUpperHalf ? PageSize / 2 : 0);
  for (const uint8_t *const Places = Mask; P != Places; ++P, ++Mask) {
    To += *P * GranuleSize;
    if (LLVM_UNLIKELY(To >= PageEnd))
      return nullptr;
    if (!(LLVM_LIKELY(Spread) ? putGranule<true>(In, *Mask, End, To)
                              : putGranule<false>(In, *Mask, End, To)))
      return nullptr;
    To += GranuleSize;
  }
  return In;
}

bool continuesChunk(ArrayRef<uint8_t> Raw) {
  ByteReader R(Raw);
  return PageChunkReader(R).base() == ContinuesBase && !R.failed();
}

Error readPage(ArrayRef<uint8_t> Raw, BlockNumber N, uint8_t *Page) {
  ByteReader R(Raw);
  PageChunkReader Chunk(R);
  auto Applied = [&](const uint8_t *Next) {
    if (Next)
      R = ByteReader({Next, Raw.end()});
    else
      R.fail();
  };
  if (!Chunk.image().empty())
    std::memcpy(Page, Chunk.image().data(), PageSize);
  else if (Chunk.base() == ZeroBase)
    std::memset(Page, 0, PageSize);
  BlockNumber Block = Chunk.first();
  for (uint64_t Left = Chunk.deltasLeft(); Left && !R.failed(); --Left) {
    Block += R.v();
    if (Block >= N)
      break;
    const uint8_t Kind = R.u8();
    if (LLVM_LIKELY(Kind & FewGranules)) {
      Applied(applyFew(Kind, R.rest().data(), Raw.end(), Page));
      continue;
    }
    switch (Kind) {
    case GranulesDelta:
      Applied(applyGranules(R.rest().data(), Raw.end(), Page));
      break;
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
  return R.failed() ? damagedChunk() : Error::success();
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

} // namespace chronicle::pieces
