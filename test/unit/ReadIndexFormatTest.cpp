// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of an index of reads: what docs/format.md says, and that nothing
// that is read can crash the reader.

#include "query/reads/ReadIndexFormat.h"
#include "trace-format/file/Codec.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace chronicle;
using namespace chronicle::reads;
using namespace llvm;

static Granules only(unsigned Granule) {
  Granules G{};
  G[Granule / 64] = uint64_t(1) << Granule % 64;
  return G;
}

static std::vector<BlockNumber> blocks(ArrayRef<uint8_t> Bytes, const Part &P,
                                       FrameNumber Frame, unsigned Granule) {
  std::vector<BlockNumber> Found;
  for (const PageChunkEntry &E : P.Chunks)
    if (E.Frame == Frame)
      cantFail(
          blocksOf(Bytes, E, E.Offset, only(Granule).data(), 0, ~0ull, Found));
  return Found;
}

TEST(ReadIndexFormat, BytesAreThoseOfTheDocument) {
  PartWriter W(10);
  W.add(12, 7, only(3));
  Granules Both = only(3);
  Both[1] = 0x0100;
  W.add(15, 7, Both);
  W.advance(20);
  SmallVector<uint8_t, 0> Bytes = W.finish();
  ByteReader R(Bytes);
  EXPECT_EQ(R.u32(), 0x54524150u); // "PART"
  const auto Codec = static_cast<file::Codec>(R.u32());
  EXPECT_EQ(R.u64(), 10u);
  EXPECT_EQ(R.u64(), 20u);
  const uint64_t Units = R.u64(), Raw = R.u64(), Stored = R.u64();
  R.u64(); // the checksum
  // One unit with one chunk, which is too short to be compressed.
  EXPECT_EQ(R.u32(), 8u);
  EXPECT_EQ(R.u32(), 8u);
  EXPECT_EQ(R.u64(), 0u);
  EXPECT_EQ(Units, 16u + 8u);
  for (uint8_t Expected : {0x00, 0x01, 0x01, 0x08,  // block 12: word 0, byte 0
                           0x03, 0x02, 0x02, 0x01}) // 3 later: word 1, byte 1
    EXPECT_EQ(R.u8(), Expected);
  SmallVector<uint8_t, 0> Table(Raw);
  ASSERT_FALSE(errorToBool(file::decompress(
      Codec, ArrayRef(Bytes).slice(PartHeaderSize + Units, Stored),
      Table.data(), Raw)));
  ByteReader T((ArrayRef<uint8_t>(Table)));
  for (uint64_t Expected : {7, 2, 3, 0, 0}) // frame, first, last, unit, offset
    EXPECT_EQ(T.v(), Expected);
  EXPECT_EQ(T.u64(), 8u);
  EXPECT_EQ(T.u64(), 0x100u);
}

TEST(ReadIndexFormat, RandomReadsAreFoundAgain) {
  std::mt19937_64 Random(5);
  std::map<std::pair<FrameNumber, unsigned>, std::vector<BlockNumber>> Expected;
  PartWriter W(100);
  for (BlockNumber N = 100; N < 400; ++N) {
    for (FrameNumber Frame = 0; Frame < 20; ++Frame) {
      if (Random() % 3 == 0)
        continue;
      Granules G{};
      for (unsigned I = Random() % 60; I; --I) {
        const unsigned Granule = Random() % GranulesPerPage;
        if (G[Granule / 64] >> Granule % 64 & 1)
          continue;
        G[Granule / 64] |= uint64_t(1) << Granule % 64;
        Expected[{Frame, Granule}].push_back(N);
      }
      W.add(N, Frame, G);
    }
    W.advance(N + 1);
  }
  SmallVector<uint8_t, 0> Bytes = W.finish();
  Part P = cantFail(readPart(Bytes));
  EXPECT_EQ(P.First, 100u);
  EXPECT_EQ(P.End, 400u);
  EXPECT_EQ(P.Size, Bytes.size());
  for (FrameNumber Frame = 0; Frame < 20; ++Frame)
    for (unsigned G = 0; G < GranulesPerPage; ++G)
      EXPECT_EQ(blocks(Bytes, P, Frame, G), (Expected[{Frame, G}]));
}

TEST(ReadIndexFormat, DamageIsFound) {
  PartWriter W(0);
  for (BlockNumber N = 0; N < 50; ++N)
    W.add(N, N % 5, only(unsigned(N)));
  W.advance(50);
  const SmallVector<uint8_t, 0> Whole = W.finish();
  ASSERT_TRUE(bool(readPart(Whole)));
  std::mt19937_64 Random(6);
  for (unsigned Round = 0; Round < 500; ++Round) {
    SmallVector<uint8_t, 0> Bytes = Whole;
    if (Round % 2)
      Bytes[Random() % Bytes.size()] ^= uint8_t(1 << Random() % 8);
    else
      Bytes.truncate(Random() % Bytes.size());
    Expected<Part> P = readPart(Bytes);
    EXPECT_FALSE(bool(P));
    consumeError(P.takeError());
  }
}
