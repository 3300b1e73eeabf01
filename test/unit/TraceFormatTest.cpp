// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every encoder of the database against the bytes docs/format.md defines.

#include "trace-format/Stream.h"
#include "trace-format/file/Codec.h"
#include "trace-format/file/Directory.h"
#include "trace-format/file/Piece.h"
#include "trace-format/pieces/BlockFormat.h"
#include "trace-format/pieces/PackedFileFormat.h"
#include "trace-format/pieces/PageChunkFormat.h"
#include "trace-format/pieces/ThreadBlocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <random>

using namespace chronicle;
using namespace llvm;

using ByteVector = std::vector<uint8_t>;

static ByteVector bytes(ArrayRef<uint8_t> B) {
  return ByteVector(B.begin(), B.end());
}

TEST(Bytes, Numbers) {
  ByteWriter W;
  W.v(0);
  W.v(127);
  W.v(128);
  W.v(300);
  W.z(-1);
  W.z(1);
  W.z(-64);
  W.u8(7);
  W.u32(0x01020304);
  W.u64(0x0102030405060708);
  EXPECT_EQ(bytes(W.data()),
            (ByteVector{0, 127, 0x80, 1, 0xac, 2, 1, 2, 127, 7, 4,
                        3, 2,   1,    8, 7,    6, 5, 4, 3,   2, 1}));
  ByteReader R(W.data());
  EXPECT_EQ(R.v(), 0u);
  EXPECT_EQ(R.v(), 127u);
  EXPECT_EQ(R.v(), 128u);
  EXPECT_EQ(R.v(), 300u);
  EXPECT_EQ(R.z(), -1);
  EXPECT_EQ(R.z(), 1);
  EXPECT_EQ(R.z(), -64);
  EXPECT_EQ(R.u8(), 7);
  EXPECT_EQ(R.u32(), 0x01020304u);
  EXPECT_EQ(R.u64(), 0x0102030405060708u);
  EXPECT_TRUE(R.atEnd());
  EXPECT_FALSE(R.failed());
  EXPECT_EQ(R.u8(), 0);
  EXPECT_TRUE(R.failed());
}

TEST(Bytes, NumbersAsLlvmWritesThem) {
  std::mt19937_64 Random(1);
  for (unsigned I = 0; I < 10000; ++I) {
    uint64_t N = Random() >> (Random() % 64);
    ByteWriter W;
    W.v(N);
    uint8_t Expected[16];
    unsigned Size = encodeULEB128(N, Expected);
    EXPECT_EQ(bytes(W.data()), ByteVector(Expected, Expected + Size));
    EXPECT_EQ(ByteReader(W.data()).v(), N);
    W.clear();
    W.z(int64_t(N));
    EXPECT_EQ(ByteReader(W.data()).z(), int64_t(N));
  }
}

TEST(Bytes, NumbersThatAreTooLong) {
  ByteVector Long(11, 0x80);
  ByteReader R(Long);
  EXPECT_EQ(R.v(), 0u);
  EXPECT_TRUE(R.failed());
  ByteVector Overflow(9, 0xff);
  Overflow.push_back(2);
  ByteReader R2(Overflow);
  EXPECT_EQ(R2.v(), 0u);
  EXPECT_TRUE(R2.failed());
  ByteVector Cut{0x80};
  ByteReader R3(Cut);
  R3.v();
  EXPECT_TRUE(R3.failed());
}

TEST(Codec, RoundTrip) {
  ByteVector Raw(100000);
  std::mt19937 Random(2);
  for (uint8_t &B : Raw)
    B = Random() % 16 ? 5 : uint8_t(Random());
  for (file::Codec C :
       {file::Codec::Zlib, file::Codec::Zstd, file::Codec::Lz4}) {
    file::Compressor P(C, 1);
    SmallVector<uint8_t, 0> Out;
    ASSERT_EQ(P.compress(Raw, Out), C);
    EXPECT_LT(Out.size(), Raw.size() / 2);
    ByteVector Back(Raw.size());
    EXPECT_FALSE(errorToBool(decompress(C, Out, Back.data(), Back.size())));
    EXPECT_EQ(Back, Raw);
    // Wrong sizes and cut contents are errors, not crashes.
    EXPECT_TRUE(errorToBool(decompress(C, Out, Back.data(), Back.size() - 1)));
    EXPECT_TRUE(errorToBool(decompress(
        C, ArrayRef(Out).drop_back(Out.size() / 2), Back.data(), Back.size())));
    EXPECT_EQ(file::codecByName(codecName(C)), C);
  }
  file::Compressor None(file::Codec::None, 0);
  SmallVector<uint8_t, 0> Out;
  EXPECT_EQ(None.compress(Raw, Out), file::Codec::None);
  EXPECT_FALSE(file::codecByName("lzma").has_value());
}

TEST(Codec, WhatDoesNotShrinkIsStored) {
  ByteVector Noise(5000);
  std::mt19937 Random(3);
  for (uint8_t &B : Noise)
    B = uint8_t(Random());
  file::Compressor P(file::Codec::Zstd, 3);
  SmallVector<uint8_t, 0> Out;
  EXPECT_EQ(P.compress(Noise, Out), file::Codec::None);
}

TEST(Piece, HeaderBytes) {
  ByteVector Payload{1, 2, 3};
  uint8_t H[PieceHeaderSize];
  file::encodePieceHeader(H, PieceType::Block, file::Codec::Zstd, 0x11223344,
                          0x8877665544332211, Payload);
  ByteVector Expected{'C',  'H',  'P',  'C',  3,    2,    0,    0,
                      0x44, 0x33, 0x22, 0x11, 3,    0,    0,    0,
                      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
  EXPECT_EQ(ByteVector(H, H + 24), Expected);
  ByteVector Hashed = Expected;
  for (unsigned I = 0; I < 8; ++I)
    Hashed.push_back(uint8_t(xxh3_64bits(ArrayRef(Payload)) >> (8 * I)));
  EXPECT_EQ(support::endian::read64le(H + 24), xxh3_64bits(ArrayRef(Hashed)));
}

TEST(Piece, HeaderAndFooterOfTheFile) {
  uint8_t H[FileHeaderSize];
  file::encodeFileHeader(H);
  ByteVector Expected{
      'C', 'H', 'R', 'O', 'N', 'D', 'B', '\n', 12, 0, 0, 0, CH_STREAM_VERSION,
      0,   0,   0};
  Expected.resize(64);
  EXPECT_EQ(ByteVector(H, H + 64), Expected);
  EXPECT_FALSE(errorToBool(file::checkFileHeader(H, "x")));

  ByteVector File(128);
  file::encodeFooter(File.data() + 96, 64, 128);
  EXPECT_EQ(std::memcmp(File.data() + 96,
                        "CHRONEND\x40\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0", 24),
            0);
  EXPECT_EQ(file::decodeFooter(File), std::optional<uint64_t>(64));
  for (size_t I = 96; I < 128; ++I) {
    ByteVector Broken = File;
    Broken[I] ^= 1;
    EXPECT_FALSE(file::decodeFooter(Broken).has_value()) << I;
  }
}

TEST(Piece, EarlierFootersAreRecognised) {
  ByteVector File(256);
  file::encodeFooter(File.data() + 96, 64, 128);
  EXPECT_TRUE(file::isFooter(File, 96));
  EXPECT_FALSE(file::isFooter(File, 88));
  // At another place it is not a footer: something in a piece may look like
  // one.
  ByteVector Moved(256);
  std::copy_n(File.begin() + 96, FooterSize, Moved.begin() + 104);
  EXPECT_FALSE(file::isFooter(Moved, 104));
  EXPECT_FALSE(file::isFooter(File, 256 - 8));
  EXPECT_FALSE(file::isFooter(File, UINT64_MAX - 8));
}

TEST(PackedFiles, Bytes) {
  pieces::PackedFile F;
  F.Kind = pieces::PackedKind::Debug;
  F.BuildId = "0aff";
  F.Path = "/a/b";
  F.Offset = 300;
  F.Size = 5;
  F.Digest.fill(7);
  ByteWriter Out;
  pieces::encodePackedFile(Out, F);
  ByteVector Expected{2, 2, 0x0a, 0xff, 4, '/', 'a', '/', 'b', 0xac, 2, 5};
  Expected.resize(Expected.size() + 32, 7);
  EXPECT_EQ(bytes(Out.data()), Expected);
  std::vector<pieces::PackedFile> Read;
  ASSERT_FALSE(errorToBool(pieces::decodePackedFiles(Out.data(), Read)));
  ASSERT_EQ(Read.size(), 1u);
  EXPECT_EQ(Read[0].Kind, F.Kind);
  EXPECT_EQ(Read[0].BuildId, F.BuildId);
  EXPECT_EQ(Read[0].Path, F.Path);
  EXPECT_EQ(Read[0].Offset, F.Offset);
  EXPECT_EQ(Read[0].Size, F.Size);
  EXPECT_EQ(Read[0].Digest, F.Digest);
}

/// A table of one file, which an attacker may have written.
ByteVector tableOf(uint8_t Kind, StringRef Path, uint64_t Offset,
                   uint64_t Size) {
  ByteWriter Out;
  Out.u8(Kind);
  Out.v(0);
  Out.v(Path.size());
  Out.bytes(Path);
  Out.v(Offset);
  Out.v(Size);
  Out.grow(32);
  return bytes(Out.data());
}

TEST(PackedFiles, DamagedTablesAreRefused) {
  std::vector<pieces::PackedFile> Read;
  auto Refused = [&](const ByteVector &Table) {
    return errorToBool(pieces::decodePackedFiles(Table, Read));
  };
  EXPECT_FALSE(Refused(tableOf(1, "/a/..b/c", 0, 1)));
  const std::string Long = "/" + std::string(256, 'x');
  for (StringRef Path :
       {"", "/", "a", "a/b", "/a/", "//a", "/a//b", "/.", "/..", "/../a",
        "/a/..", "/a/../../b", "/a/./b", Long.c_str()})
    EXPECT_TRUE(Refused(tableOf(1, Path, 0, 1))) << Path.str();
  EXPECT_TRUE(Refused(tableOf(1, StringRef("/a\0b", 4), 0, 1)));
  EXPECT_TRUE(Refused(tableOf(0, "/a", 0, 1)));
  EXPECT_TRUE(Refused(tableOf(5, "/a", 0, 1)));
  EXPECT_TRUE(Refused(tableOf(1, "/a", 0, pieces::MaxPackedFile + 1)));
  EXPECT_TRUE(Refused(tableOf(1, "/a", UINT64_MAX, 1)));
  const ByteVector Whole = tableOf(1, "/a", 0, 1);
  for (size_t Size = 1; Size < Whole.size(); ++Size)
    EXPECT_TRUE(Refused(ByteVector(Whole.begin(), Whole.begin() + Size)))
        << Size;
}

TEST(Piece, OtherVersionsAreNamed) {
  uint8_t H[FileHeaderSize];
  file::encodeFileHeader(H);
  H[8] = FormatVersion + 1;
  EXPECT_EQ(toString(file::checkFileHeader(H, "a.db")),
            "'a.db' was written in trace format " +
                std::to_string(FormatVersion + 1) +
                "; this Chronicle reads format " +
                std::to_string(FormatVersion) +
                ": open it with the Chronicle that recorded it, or record "
                "again");
  file::encodeFileHeader(H);
  H[12] = 200;
  EXPECT_NE(toString(file::checkFileHeader(H, "a.db")).find("version 200"),
            std::string::npos);
  EXPECT_EQ(toString(file::checkFileHeader({}, "a.db")),
            "'a.db' is empty: it is not a Chronicle trace");
  ByteVector Text(100, 'x');
  EXPECT_EQ(toString(file::checkFileHeader(Text, "a.db")),
            "'a.db' is not a Chronicle trace");
}

TEST(Sequence, Bytes) {
  pieces::SequenceCoder C;
  C.setExitCount(10);
  C.beginBlock();
  // The first follows nothing: predicted 0. 5 -> 6 is new, so it becomes the
  // first successor and needs no bytes here.
  for (uint32_t S : {5, 6, 5, 6, 5, 7})
    C.add(S);
  // miss 5; hits 6, 5, 6, 5; miss 7.
  EXPECT_EQ(bytes(C.endBlock()), (ByteVector{0, 6, 8, 8}));
  auto New = C.takeNewSuccessors();
  EXPECT_EQ(New, (std::vector<std::pair<uint32_t, uint32_t>>{{5, 6}, {6, 5}}));
  // In the next block the first successor counts again, not the last one.
  C.beginBlock();
  for (uint32_t S : {5, 6, 5})
    C.add(S);
  EXPECT_EQ(bytes(C.endBlock()), (ByteVector{0, 6, 4}));
  EXPECT_FALSE(C.hasNewSuccessors());
  // Miss 5; hit 6; hit 5; miss 7 instead of 6. Then, after 5 again, 6 is what
  // was predicted before, and so is 7 after that: no symbol. 7 -> 5 is new.
  C.beginBlock();
  for (uint32_t S : {5, 6, 5, 7, 5, 6, 5, 7, 5, 8})
    C.add(S);
  EXPECT_EQ(bytes(C.endBlock()), (ByteVector{0, 6, 4, 8, 3, 3, 2, 9}));
  // That, too, is forgotten.
  C.beginBlock();
  for (uint32_t S : {5, 8})
    C.add(S);
  EXPECT_EQ(bytes(C.endBlock()), (ByteVector{0, 6, 0, 9}));
  // Symbol 0 at the start is what is predicted.
  C.beginBlock();
  C.add(0);
  EXPECT_EQ(bytes(C.endBlock()), (ByteVector{2}));
  C.beginBlock();
  EXPECT_TRUE(C.endBlock().empty());
}

TEST(Sequence, RoundTrip) {
  std::mt19937 Random(4);
  for (unsigned Round = 0; Round < 50; ++Round) {
    uint32_t Exits = 1 + Random() % 50;
    pieces::SequenceCoder C;
    C.setExitCount(Exits);
    std::vector<std::vector<uint32_t>> Blocks(10);
    std::vector<ByteVector> Coded;
    std::vector<uint32_t> First(Exits, pieces::NoSymbol);
    for (auto &Block : Blocks) {
      C.beginBlock();
      uint32_t Symbol = Random() % Exits;
      for (unsigned N = Random() % 200; N; --N) {
        Symbol = Random() % 4 ? (Symbol + 1) % Exits : Random() % Exits;
        Block.push_back(Symbol);
        C.add(Symbol);
      }
      Coded.push_back(bytes(C.endBlock()));
      for (auto [Exit, Next] : C.takeNewSuccessors()) {
        EXPECT_EQ(First[Exit], pieces::NoSymbol);
        First[Exit] = Next;
      }
    }
    // Blocks decode in any order, once all definitions are known.
    pieces::SequenceScratch Scratch;
    for (unsigned N : {9, 0, 5, 1, 8, 3, 3}) {
      std::vector<uint32_t> Symbols;
      ASSERT_FALSE(errorToBool(
          decodeSequence(Coded[N], Blocks[N].size(), First, Scratch, Symbols)));
      EXPECT_EQ(Symbols, Blocks[N]);
      EXPECT_TRUE(errorToBool(decodeSequence(Coded[N], Blocks[N].size() + 1,
                                             First, Scratch, Symbols)));
    }
  }
}

TEST(Sequence, DamageIsAnError) {
  pieces::SequenceScratch Scratch;
  std::vector<uint32_t> First(4, pieces::NoSymbol), Symbols;
  for (const ByteVector &Bad :
       {ByteVector{0, 5}, ByteVector{0, 0}, ByteVector{1}, ByteVector{200, 1},
        ByteVector{0x80},
        ByteVector{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}})
    EXPECT_TRUE(errorToBool(decodeSequence(Bad, 1, First, Scratch, Symbols)));
  EXPECT_TRUE(errorToBool(
      decodeSequence({}, uint64_t(1) << 60, First, Scratch, Symbols)));
}

TEST(Block, Bytes) {
  pieces::EventsWriter Events;
  ByteVector Payload{9, 8, 7}, More{6};
  // Kinds that a later version may add: their payloads may be anything.
  Events.add(0, 40, Payload);
  Events.add(200, 41, Payload, More);
  EXPECT_EQ(bytes(Events.Bytes.data()),
            (ByteVector{0, 40, 3, 9, 8, 7, 0xc8, 1, 41, 4, 9, 8, 7, 6}));
  EXPECT_EQ(Events.Kinds, (uint64_t(1) << 40) | (uint64_t(1) << 41));
  pieces::BlockHead Head;
  Head.First = 1000;
  Head.Instructions = 500;
  Head.Executions = 201;
  Head.Events = 2;
  Head.DirtyPages = 3;
  Head.DirtyGranules = 4;
  Head.OpaqueBytes = 2;
  ByteVector Sequence{0, 6, 4, 8}, Opaque{1, 2};
  ByteWriter Out;
  pieces::encodeBlock(Out, Head, Events.Bytes.data(), Sequence, Opaque);
  ByteVector Expected{1, 10, 0xe8, 7, 0xf4, 3, 0xc9, 1, 2, 3, 4, 2, 2, 14};
  llvm::append_range(Expected, Events.Bytes.data());
  llvm::append_range(Expected, ByteVector{3, 4, 0, 6, 4, 8, 4, 2, 1, 2});
  EXPECT_EQ(bytes(Out.data()), Expected);

  // Sections that a later version may add are skipped.
  Out.u8(99);
  Out.v(1);
  Out.u8(0);
  auto S = pieces::splitBlock(Out.data());
  ASSERT_TRUE(bool(S));
  EXPECT_EQ(S->Head.Instructions, 500u);
  EXPECT_EQ(bytes(S->Opaque), Opaque);
  auto Decoded = pieces::decodeEvents(S->Events, S->Head);
  ASSERT_TRUE(bool(Decoded));
  ASSERT_EQ(Decoded->size(), 2u);
  EXPECT_EQ((*Decoded)[1].Execution, 200u);
  EXPECT_EQ((*Decoded)[1].Kind, 41u);
  EXPECT_EQ(bytes((*Decoded)[1].Payload), (ByteVector{9, 8, 7, 6}));
}

TEST(Block, DamageIsAnError) {
  pieces::BlockHead Head;
  Head.Executions = 5;
  Head.Events = 1;
  pieces::EventsWriter Events;
  Events.add(5, 40, {});
  ByteWriter Out;
  pieces::encodeBlock(Out, Head, Events.Bytes.data(), {}, {});
  ByteVector Good = bytes(Out.data());
  auto Sound = [](ArrayRef<uint8_t> B) {
    auto S = pieces::splitBlock(B);
    if (!S) {
      consumeError(S.takeError());
      return false;
    }
    auto E = pieces::decodeEvents(S->Events, S->Head);
    if (!E)
      consumeError(E.takeError());
    return bool(E);
  };
  EXPECT_TRUE(Sound(Good));
  auto Alone = [&](uint32_t Kind, ArrayRef<uint8_t> Payload) {
    pieces::EventsWriter Events;
    Events.add(5, Kind, Payload);
    ByteWriter Out;
    pieces::encodeBlock(Out, Head, Events.Bytes.data(), {}, {});
    return Sound(Out.data());
  };
  auto Record = [](const auto &Value) {
    return ArrayRef(reinterpret_cast<const uint8_t *>(&Value), sizeof(Value));
  };
  // What no recorder writes is damage, whatever the checksum says.
  EXPECT_FALSE(Alone(CH_EV_RESUME, {}));
  EXPECT_TRUE(Alone(CH_EV_RESUME, Record(ch_ev_thread{7, 0})));
  EXPECT_FALSE(Alone(CH_EV_RESUME, Record(ch_ev_thread{0xffffffff, 0})));
  ch_ev_range Range = {};
  Range.address = 0xfffffffffffff000;
  Range.length = 0x1000;
  EXPECT_TRUE(Alone(CH_EV_UNMAP, Record(Range)));
  Range.length = 0x2000;
  EXPECT_FALSE(Alone(CH_EV_UNMAP, Record(Range)));
  ch_ev_map Map = {};
  Map.object = 0xffffffff;
  EXPECT_FALSE(Alone(CH_EV_MAP, Record(Map)));
  for (size_t Size = 0; Size < Good.size(); ++Size)
    EXPECT_FALSE(Sound(ArrayRef(Good).take_front(Size))) << Size;
}

TEST(PageChunk, Bytes) {
  uint8_t Page[PageSize] = {};
  for (unsigned I = 0; I < 16; ++I)
    Page[I] = uint8_t(I + 1);
  Page[4095] = 0xee;
  uint64_t Two[GranuleWords] = {3, 0, 0, 0, 0, 0, 0, 0};
  uint64_t Last[GranuleWords] = {0, 0, 0, 0, 0, 0, 0, uint64_t(1) << 63};
  // Of the first granule all bytes change, of the second bytes 0 and 7, of the
  // last none.
  uint8_t Masks[GranulesPerPage] = {0xff, 0x81};
  pieces::PageChunkWriter C(0x300, 7);
  C.addGranules(7, {Page, Two, Masks});
  C.addZero(9);
  Masks[GranulesPerPage - 1] = 0x80;
  C.addGranules(9, {Page, Last, Masks});
  Masks[GranulesPerPage - 1] = 0;
  C.addGranules(10, {Page, Last, Masks});
  uint64_t Apart[GranuleWords] = {1, 0, 0, 0, 0, 0, 0, uint64_t(1) << 63};
  Masks[0] = 1;
  Masks[GranulesPerPage - 1] = 0x80;
  C.addGranules(11, {Page, Apart, Masks});
  ByteWriter Out;
  C.encode(Out);
  ByteVector Expected{
      7,    0,    5,       // block, base, deltas
      0,    0x82, 0,    0, // granules 0 and 1
      0xff, 0x81, 1,    2,    3,    4, 5, 6,    7,    8,    9, 16,
      2,    1,                               // zero, two blocks on
      0,    0xc1, 0xff, 0x80, 0xee,          // the last granule
      1,    0xc1, 0xff, 0,                   // and again
      1,    0,    0x81,                      // the first and the last:
      1,    0,    0,    0,    0,    0, 0, 0, // too far apart for a list
      0,    0,    0,    0,    0,    0, 0, 0x80, 0x01, 0x80, 1, 0xee};
  EXPECT_EQ(bytes(Out.data()), Expected);
  EXPECT_EQ(C.last(), 11u);

  auto D = pieces::decodePageChunk(0x300, Out.data());
  ASSERT_TRUE(bool(D));
  EXPECT_EQ(D->Frame, 0x300u);
  ASSERT_EQ(D->Deltas.size(), 5u);
  EXPECT_EQ(D->Deltas[0].Block, 7u);
  EXPECT_EQ(D->Deltas[2].Block, 9u);
  uint8_t Built[PageSize];
  std::memset(Built, 0x55, PageSize);
  pieces::applyDelta(D->Deltas[0], Built);
  EXPECT_EQ(std::memcmp(Built, Page, 9), 0);
  EXPECT_EQ(Built[9], 0x55);
  EXPECT_EQ(Built[15], 16);
  EXPECT_EQ(Built[16], 0x55);
  pieces::applyDelta(D->Deltas[1], Built);
  EXPECT_EQ(Built[0], 0);
  pieces::applyDelta(D->Deltas[2], Built);
  EXPECT_EQ(Built[4095], 0xee);
  pieces::applyDelta(D->Deltas[3], Built);
  EXPECT_EQ(Built[4095], 0xee);
  EXPECT_EQ(Built[0], 0);
  pieces::applyDelta(D->Deltas[4], Built);
  EXPECT_EQ(Built[0], 1);
}

TEST(PageChunk, ReadPageIsWhatTheDeltasGive) {
  std::mt19937 Random(5);
  for (unsigned Round = 0; Round < 200; ++Round) {
    pieces::PageChunkWriter C(3, 10);
    uint8_t Page[PageSize];
    for (uint8_t &B : Page)
      B = uint8_t(Random());
    std::vector<std::pair<std::vector<uint64_t>, std::vector<uint8_t>>> Told;
    for (BlockNumber N = 10; N < 30; N += 1 + Random() % 3) {
      uint64_t Granules[GranuleWords] = {};
      uint8_t Masks[GranulesPerPage] = {};
      for (unsigned I = Random() % (Round % 4 == 1 ? 80
                                    : Round % 2    ? 5
                                                   : 300);
           I; --I) {
        const unsigned G = Random() % GranulesPerPage;
        Granules[G / 64] |= uint64_t(1) << G % 64;
        Masks[G] = Random() % 3 ? uint8_t(Random()) : 0xff;
        for (unsigned B = 0; B < GranuleSize; ++B)
          if (Masks[G] >> B & 1)
            Page[G * GranuleSize + B] = uint8_t(Random());
      }
      const pieces::PageChunkWriter::Written Written = {Page, Granules, Masks};
      if (N == 10 && Round % 3)
        C.setBase(Written);
      if (N > 10 && Random() % 8 == 0)
        C.addZero(N);
      C.addGranules(N, Written);
      Told.emplace_back(std::vector(Granules, Granules + GranuleWords),
                        std::vector<uint8_t>());
      for (unsigned G = 0; G < GranulesPerPage; ++G)
        if (Granules[G / 64] >> G % 64 & 1)
          Told.back().second.push_back(Masks[G]);
    }
    ByteWriter Out;
    C.encode(Out);
    Expected<PageChunk> D = pieces::decodePageChunk(3, Out.data());
    ASSERT_TRUE(bool(D));
    auto NextTold = Told.begin();
    for (const PageDelta &Delta : D->Deltas) {
      if (Delta.Kind != GranulesDelta)
        continue;
      ASSERT_NE(NextTold, Told.end());
      ASSERT_EQ(std::vector(Delta.Granules, Delta.Granules + GranuleWords),
                NextTold->first);
      ASSERT_EQ(Delta.Masks.vec(), NextTold->second);
      ++NextTold;
    }
    ASSERT_EQ(NextTold, Told.end());
    uint8_t Slow[PageSize] = {}, Fast[PageSize];
    if (!D->Image.empty())
      std::memcpy(Slow, D->Image.data(), PageSize);
    auto Next = D->Deltas.begin();
    for (BlockNumber N = 10; N < 35; ++N) {
      for (; Next != D->Deltas.end() && Next->Block < N; ++Next)
        pieces::applyDelta(*Next, Slow);
      std::memset(Fast, 0x77, PageSize);
      ASSERT_FALSE(errorToBool(pieces::readPage(Out.data(), N, Fast)));
      ASSERT_EQ(std::memcmp(Slow, Fast, PageSize), 0) << N;
    }
    // Cut anywhere, it is an error.
    for (size_t Size = 0; Size < Out.size(); Size += 1 + Random() % 50)
      ASSERT_TRUE(
          errorToBool(pieces::readPage(Out.data().take_front(Size), 35, Fast)));
  }
}

TEST(PageChunk, BaseLeavesOutWhatTheFirstDeltaGives) {
  uint8_t Page[PageSize];
  std::memset(Page, 0x11, PageSize);
  uint64_t Some[GranuleWords] = {2, 0, 0, 0, 0, 0, 0, 0};
  pieces::PageChunkWriter C(1, 0);
  // Bytes 0 and 1 of the granule change.
  uint8_t Masks[GranulesPerPage] = {0, 3};
  C.setBase({Page, Some, Masks});
  C.addGranules(0, {Page, Some, Masks});
  ByteWriter Out;
  C.encode(Out);
  auto D = pieces::decodePageChunk(1, Out.data());
  ASSERT_TRUE(bool(D));
  ASSERT_EQ(D->Image.size(), PageSize);
  EXPECT_EQ(D->Image[7], 0x11);
  EXPECT_EQ(D->Image[8], 0);
  EXPECT_EQ(D->Image[9], 0);
  EXPECT_EQ(D->Image[10], 0x11);
  ByteVector Built = bytes(D->Image);
  pieces::applyDelta(D->Deltas[0], Built.data());
  EXPECT_EQ(Built, ByteVector(PageSize, 0x11));
  // Cut anywhere, it is an error.
  for (size_t Size = 0; Size < Out.size(); ++Size) {
    ArrayRef<uint8_t> Cut = Out.data().take_front(Size);
    EXPECT_TRUE(errorToBool(pieces::decodePageChunk(1, Cut).takeError()))
        << Size;
    uint8_t Read[PageSize];
    EXPECT_TRUE(errorToBool(pieces::readPage(Cut, 1, Read))) << Size;
  }
}

TEST(ThreadBlocks, LikeAList) {
  std::mt19937 Random(5);
  pieces::ThreadBlocksWriter W;
  std::vector<std::vector<BlockNumber>> Expected(6);
  constexpr BlockNumber Blocks = 400, End = 350;
  for (BlockNumber N = 0; N < Blocks; ++N) {
    SmallVector<uint32_t, 4> Threads;
    for (uint32_t Thread = 1; Thread < 5; ++Thread) // 1 nearly always, 4 seldom
      if (Random() % (1 << 2 * Thread) < (Thread == 1 ? 3 : 2)) {
        Threads.push_back(Thread);
        if (N < End)
          Expected[Thread].push_back(N);
      }
    W.add(N, Threads);
  }
  const std::vector<pieces::ThreadStretch> Table = W.table(End);
  for (uint32_t Thread = 0; Thread < Expected.size(); ++Thread) {
    const std::vector<BlockNumber> &List = Expected[Thread];
    const pieces::ThreadBlocks Of(Table, Thread);
    ASSERT_EQ(Of.size(), List.size());
    for (size_t I = 0; I < List.size(); ++I)
      EXPECT_EQ(Of[I], List[I]);
    for (BlockNumber N = 0; N <= Blocks; ++N) {
      EXPECT_EQ(Of.countBelow(N),
                size_t(llvm::lower_bound(List, N) - List.begin()));
      EXPECT_EQ(Of.contains(N), llvm::is_contained(List, N));
    }
  }
}

TEST(Directory, Bytes) {
  file::Directory W;
  W.Pieces = {{PieceType::Run, 64, 0}, {PieceType::End, 300, 0}};
  W.Instructions = 400;
  W.Blocks = 2;
  W.Executions = 50;
  W.Starts = {{1, 0}, {9, 20}};
  W.Copies = {{64, {7, 8}}};
  ByteWriter Out;
  file::encodeDirectory(Out, W);
  ByteVector Expected{3, 8, 2,    1,  64, 0, 7,  0xec, 1, 0, // pieces
                      5, 5, 2,    1,  0,  9, 20,             // starts
                      6, 5, 1,    64, 2,  7, 8,              // copies
                      4, 4, 0x90, 3,  2,  50};               // totals
  EXPECT_EQ(bytes(Out.data()), Expected);
  auto D = file::decodeDirectory(Out.data());
  ASSERT_TRUE(bool(D));
  EXPECT_EQ(D->Blocks, 2u);
  ASSERT_EQ(D->Pieces.size(), 2u);
  EXPECT_EQ(D->Pieces[1].Offset, 300u);
  EXPECT_EQ(D->Instructions, 400u);
  EXPECT_EQ(D->Executions, 50u);
  ASSERT_EQ(D->Starts.size(), 2u);
  EXPECT_EQ(D->Starts[1].Exit, 20u);
  ASSERT_EQ(D->Copies.size(), 1u);
  EXPECT_EQ(D->Copies[0].Raw, (std::vector<uint8_t>{7, 8}));
  for (size_t Size = 0; Size < Out.size(); ++Size)
    EXPECT_TRUE(errorToBool(
        file::decodeDirectory(Out.data().take_front(Size)).takeError()))
        << Size;
}
