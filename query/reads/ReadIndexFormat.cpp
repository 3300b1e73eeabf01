// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/reads/ReadIndexFormat.h"
#include "trace-format/file/Codec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace chronicle::reads {

static constexpr char IndexMagic[] = "CHRREADS", PartMagic[] = "PART";
static constexpr uint32_t IndexVersion = 1;
/// A chunk ends when it has so many bytes, and so does a unit. What is in one
/// unit is decompressed together.
static constexpr size_t ChunkBytes = 4096, UnitBytes = 32768;
static constexpr size_t UnitHeaderSize = 16;
static constexpr unsigned PlaceBits = 16;
static_assert(UnitBytes + ChunkBytes + 128 < 1 << PlaceBits);
/// What no sound file exceeds.
static constexpr uint64_t MostUnitBytes = 1 << PlaceBits,
                          MostTableBytes = uint64_t(1) << 32;

uint64_t identityOf(const file::TraceReader &Trace) {
  std::string Run;
  raw_string_ostream(Run) << json::Value(json::Object(Trace.run()));
  ArrayRef<BlockEntry> Blocks = Trace.blocks();
  const uint64_t Facts[] = {
      xxh3_64bits(Run),
      xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(Blocks.data()),
                           Blocks.size() * sizeof(BlockEntry))),
      Trace.instructions(),
      Trace.executions(),
      Trace.superblockCount(),
      Trace.exitCount()};
  return xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(Facts), sizeof(Facts)));
}

std::array<uint8_t, IndexHeaderSize> encodeIndexHeader(uint64_t Identity) {
  ByteWriter W;
  W.bytes(StringRef(IndexMagic));
  W.u32(IndexVersion);
  W.u32(0);
  W.u64(Identity);
  W.u64(xxh3_64bits(W.data()));
  std::array<uint8_t, IndexHeaderSize> Header;
  llvm::copy(W.data(), Header.begin());
  return Header;
}

bool isIndexHeader(ArrayRef<uint8_t> Bytes, uint64_t Identity) {
  return Bytes.take_front(IndexHeaderSize) ==
         ArrayRef<uint8_t>(encodeIndexHeader(Identity));
}

void PartWriter::add(BlockNumber N, FrameNumber Frame, const Granules &Read) {
  std::vector<Chunk> &Chunks = Frames[Frame];
  if (Chunks.empty() || Chunks.back().Bytes.size() >= ChunkBytes) {
    Chunks.emplace_back();
    Chunks.back().First = Chunks.back().Last = N;
  }
  Chunk &C = Chunks.back();
  C.Bytes.v(N - C.Last);
  C.Last = N;
  uint8_t Words = 0;
  for (unsigned W = 0; W < GranuleWords; ++W)
    if (Read[W] != C.Previous[W])
      Words |= uint8_t(1 << W);
  C.Bytes.u8(Words);
  for (unsigned W = 0; W < GranuleWords; ++W) {
    const uint64_t Changed = Read[W] ^ C.Previous[W];
    C.All[W] |= Read[W];
    if (!Changed)
      continue;
    uint8_t Bytes = 0;
    for (unsigned B = 0; B < 8; ++B)
      if (Changed >> 8 * B & 0xff)
        Bytes |= uint8_t(1 << B);
    C.Bytes.u8(Bytes);
    for (unsigned B = 0; B < 8; ++B)
      if (Bytes >> B & 1)
        C.Bytes.u8(uint8_t(Changed >> 8 * B));
  }
  C.Previous = Read;
}

static void writeUnit(ByteWriter &To, file::Compressor &Compress,
                      ArrayRef<uint8_t> Raw) {
  SmallVector<uint8_t, 0> Stored;
  const file::Codec C = Compress.compress(Raw, Stored);
  ArrayRef<uint8_t> Bytes = C == file::Codec::None ? Raw : ArrayRef(Stored);
  To.u32(uint32_t(Raw.size()));
  To.u32(uint32_t(Bytes.size()));
  To.u64(uint8_t(C));
  To.bytes(Bytes);
}

SmallVector<uint8_t, 0> PartWriter::finish() {
  file::Compressor Compress(file::Codec::Zstd, 3);
  ByteWriter Units, Unit, Table;
  FrameNumber Before = 0;
  for (const auto &[Frame, Chunks] : Frames)
    for (const Chunk &C : Chunks) {
      if (Unit.size() >= UnitBytes) {
        writeUnit(Units, Compress, Unit.data());
        Unit.clear();
      }
      Table.v(Frame - Before);
      Table.v(C.First - First);
      Table.v(C.Last - C.First);
      Table.v(Units.size());
      Table.v(Unit.size());
      for (uint64_t Word : C.All)
        Table.u64(Word);
      Before = Frame;
      Unit.bytes(C.Bytes.data());
    }
  if (!Unit.empty())
    writeUnit(Units, Compress, Unit.data());
  SmallVector<uint8_t, 0> Stored;
  const file::Codec C = Compress.compress(Table.data(), Stored);
  ArrayRef<uint8_t> TableBytes =
      C == file::Codec::None ? Table.data() : ArrayRef(Stored);

  ByteWriter Body;
  Body.bytes(Units.data());
  Body.bytes(TableBytes);
  while (Body.size() % 8)
    Body.u8(0);
  ByteWriter Part;
  Part.bytes(StringRef(PartMagic));
  Part.u32(uint8_t(C));
  Part.u64(First);
  Part.u64(End);
  Part.u64(Units.size());
  Part.u64(Table.size());
  Part.u64(TableBytes.size());
  ByteWriter Checked;
  Checked.bytes(Part.data());
  Checked.u64(xxh3_64bits(Body.data()));
  Part.u64(xxh3_64bits(Checked.data()));
  Part.bytes(Body.data());
  return Part.take();
}

Expected<Part> readPart(ArrayRef<uint8_t> Bytes) {
  auto Damaged = [] { return createStringError("a part of it is damaged"); };
  if (Bytes.size() < PartHeaderSize ||
      toStringRef(Bytes.take_front(4)) != PartMagic)
    return Damaged();
  ByteReader R(Bytes.slice(4, PartHeaderSize - 4));
  const uint32_t C = R.u32();
  Part P;
  P.First = R.u64();
  P.End = R.u64();
  const uint64_t UnitsSize = R.u64(), RawSize = R.u64(), Size = R.u64(),
                 Checksum = R.u64();
  const uint64_t Left = Bytes.size() - PartHeaderSize;
  if (P.End <= P.First || C > uint32_t(file::LastCodec) || UnitsSize > Left ||
      Size > Left - UnitsSize || RawSize > MostTableBytes ||
      alignTo(UnitsSize + Size, 8) > Left)
    return Damaged();
  const uint64_t BodySize = alignTo(UnitsSize + Size, 8);
  ByteWriter Checked;
  Checked.bytes(Bytes.take_front(PartHeaderSize - 8));
  Checked.u64(xxh3_64bits(Bytes.slice(PartHeaderSize, BodySize)));
  if (xxh3_64bits(Checked.data()) != Checksum)
    return Damaged();
  P.Size = PartHeaderSize + BodySize;

  SmallVector<uint8_t, 0> Raw;
  Raw.resize_for_overwrite(RawSize);
  if (Error E = file::decompress(file::Codec(C),
                                 Bytes.slice(PartHeaderSize + UnitsSize, Size),
                                 Raw.data(), RawSize))
    return E;
  ByteReader Table((ArrayRef<uint8_t>(Raw)));
  FrameNumber Frame = 0;
  BlockNumber Last = 0;
  while (!Table.atEnd()) {
    PageChunkEntry E;
    const FrameNumber Step = Table.v();
    E.Frame = Frame + Step;
    E.First = P.First + Table.v();
    E.Last = E.First + Table.v();
    const uint64_t Unit = Table.v(), Place = Table.v();
    E.Offset = (PartHeaderSize + Unit) << PlaceBits | Place;
    for (uint64_t &Word : E.Granules)
      Word = Table.u64();
    if (Table.failed() || E.Last >= P.End || E.Last < E.First ||
        E.Frame < Frame || (!Step && !P.Chunks.empty() && E.First <= Last) ||
        Unit >= UnitsSize || Place >= MostUnitBytes)
      return Damaged();
    Frame = E.Frame;
    Last = E.Last;
    P.Chunks.push_back(E);
  }
  return P;
}

/// Decompresses the unit at Offset.
static Expected<SmallVector<uint8_t, 0>> readUnit(ArrayRef<uint8_t> Bytes,
                                                  uint64_t Offset) {
  ByteReader R(Bytes.drop_front(std::min<uint64_t>(Offset, Bytes.size())));
  const uint64_t RawSize = R.u32(), Size = R.u32(), C = R.u64();
  if (R.failed() || C > uint64_t(file::LastCodec) || RawSize > MostUnitBytes ||
      Size > Bytes.size() - Offset - UnitHeaderSize)
    return createStringError("a unit of the index of reads is damaged");
  SmallVector<uint8_t, 0> Raw;
  Raw.resize_for_overwrite(RawSize);
  if (Error E = file::decompress(file::Codec(C),
                                 Bytes.slice(Offset + UnitHeaderSize, Size),
                                 Raw.data(), RawSize))
    return E;
  return Raw;
}

Error blocksOf(ArrayRef<uint8_t> Bytes, const PageChunkEntry &Chunk,
               uint64_t Offset, const uint64_t Wanted[GranuleWords],
               BlockNumber From, BlockNumber To,
               std::vector<BlockNumber> &Found) {
  Expected<SmallVector<uint8_t, 0>> Raw = readUnit(Bytes, Offset >> PlaceBits);
  if (!Raw)
    return Raw.takeError();
  const uint64_t Place = Offset & ((1 << PlaceBits) - 1);
  ByteReader R(ArrayRef<uint8_t>(*Raw).drop_front(
      std::min<uint64_t>(Place, Raw->size())));
  Granules Read{};
  BlockNumber N = Chunk.First;
  // A unit does not say where a chunk ends; the last block of it does.
  do {
    N += R.v();
    const uint8_t Words = R.u8();
    for (unsigned W = 0; W < GranuleWords; ++W) {
      if (!(Words >> W & 1))
        continue;
      const uint8_t Changed = R.u8();
      for (unsigned B = 0; B < 8; ++B)
        if (Changed >> B & 1)
          Read[W] ^= uint64_t(R.u8()) << 8 * B;
    }
    if (R.failed())
      return createStringError("a chunk of the index of reads is damaged");
    uint64_t Both = 0;
    for (unsigned W = 0; W < GranuleWords; ++W)
      Both |= Read[W] & Wanted[W];
    if (Both && N >= From && N <= To)
      Found.push_back(N);
  } while (N < Chunk.Last);
  return Error::success();
}

} // namespace chronicle::reads
