// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/Piece.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <cinttypes>
#include <cstring>

using namespace llvm;
using namespace llvm::support;

namespace chronicle::file {

constexpr unsigned ChecksumOffset = 24;

/// XXH3-64 of the header up to the checksum, followed by the payload. LLVM has
/// no streaming XXH3, and copying every payload behind its header would cost
/// more than the hash, so the header's 24 bytes are hashed with the payload's
/// own hash behind them.
static uint64_t checksum(const uint8_t *Header, ArrayRef<uint8_t> Stored) {
  uint8_t Both[ChecksumOffset + 8];
  std::memcpy(Both, Header, ChecksumOffset);
  endian::write64le(Both + ChecksumOffset, xxh3_64bits(Stored));
  return xxh3_64bits(ArrayRef(Both));
}

void encodePieceHeader(uint8_t *Out, PieceType Type, Codec Compression,
                       uint32_t RawSize, uint64_t Key,
                       ArrayRef<uint8_t> Stored) {
  endian::write32le(Out, PieceMagic);
  Out[4] = uint8_t(Type);
  Out[5] = uint8_t(Compression);
  Out[6] = Out[7] = 0;
  endian::write32le(Out + 8, RawSize);
  endian::write32le(Out + 12, uint32_t(Stored.size()));
  endian::write64le(Out + 16, Key);
  endian::write64le(Out + ChecksumOffset, checksum(Out, Stored));
}

Expected<Piece> Piece::at(ArrayRef<uint8_t> File, uint64_t Offset) {
  auto Damaged = [&](const char *What) {
    return createStringError("at offset %" PRIu64 ": %s", Offset, What);
  };
  if (Offset < FileHeaderSize || Offset % 8 || Offset > File.size() ||
      File.size() - Offset < PieceHeaderSize)
    return Damaged("no room for a piece");
  const uint8_t *H = File.data() + Offset;
  if (endian::read32le(H) != PieceMagic)
    return Damaged("not the start of a piece");
  Piece P;
  P.Offset = Offset;
  P.Type = PieceType(H[4]);
  P.Compression = Codec(H[5]);
  if (H[4] == 0 || H[4] >= PieceTypeCount || H[5] > uint8_t(LastCodec))
    return Damaged("a piece of unknown type or codec");
  P.RawSize = endian::read32le(H + 8);
  uint64_t StoredSize = endian::read32le(H + 12);
  P.Key = endian::read64le(H + 16);
  P.Checksum = endian::read64le(H + ChecksumOffset);
  if (File.size() - Offset - PieceHeaderSize < StoredSize)
    return Damaged("a piece that goes beyond the end of the file");
  if (P.RawSize > maxRawSize(P.Type) ||
      (P.Compression == Codec::None && P.RawSize != StoredSize))
    return Damaged("a piece of impossible size");
  P.Stored = File.slice(Offset + PieceHeaderSize, StoredSize);
  P.End = alignTo(Offset + PieceHeaderSize + StoredSize, 8);
  return P;
}

Error Piece::check() const {
  if (checksum(Stored.data() - PieceHeaderSize, Stored) != Checksum)
    return createStringError("at offset %" PRIu64
                             ": the checksum of a %s piece is wrong",
                             Offset, pieceTypeName(Type).data());
  return Error::success();
}

Error Piece::readInto(uint8_t *Raw) const {
  if (Error E = check())
    return E;
  if (Error E = decompress(Compression, Stored, Raw, RawSize))
    return createStringError("at offset %" PRIu64 ": %s", Offset,
                             toString(std::move(E)).c_str());
  return Error::success();
}

Expected<std::unique_ptr<uint8_t[]>> Piece::read() const {
  // make_unique would clear what is about to be overwritten.
  std::unique_ptr<uint8_t[]> Raw(new uint8_t[RawSize ? RawSize : 1]);
  if (Error E = readInto(Raw.get()))
    return E;
  return Raw;
}

void encodeFileHeader(uint8_t *Out) {
  std::memset(Out, 0, FileHeaderSize);
  std::memcpy(Out, FileMagic, 8);
  endian::write32le(Out + 8, FormatVersion);
  endian::write32le(Out + 12, CH_STREAM_VERSION);
}

void encodeFooter(uint8_t *Out, uint64_t DirectoryOffset, uint64_t FileSize) {
  std::memcpy(Out, FooterMagic, 8);
  endian::write64le(Out + 8, DirectoryOffset);
  endian::write64le(Out + 16, FileSize);
  endian::write64le(Out + 24, xxh3_64bits(ArrayRef(Out, 24)));
}

bool isFooter(ArrayRef<uint8_t> File, uint64_t Offset) {
  if (Offset < FileHeaderSize || Offset > File.size() ||
      File.size() - Offset < FooterSize)
    return false;
  const uint8_t *F = File.data() + Offset;
  return std::memcmp(F, FooterMagic, 8) == 0 &&
         endian::read64le(F + 16) == Offset + FooterSize &&
         endian::read64le(F + 24) == xxh3_64bits(ArrayRef(F, 24));
}

std::optional<uint64_t> decodeFooter(ArrayRef<uint8_t> File) {
  if (File.size() < FooterSize || !isFooter(File, File.size() - FooterSize))
    return std::nullopt;
  return endian::read64le(File.end() - FooterSize + 8);
}

Error checkFileHeader(ArrayRef<uint8_t> File, StringRef Path) {
  auto Refuse = [&](const Twine &Why) {
    return createStringError(inconvertibleErrorCode(), "'" + Path + "' " + Why);
  };
  if (File.empty())
    return Refuse("is empty: it is not a Chronicle trace");
  if (File.size() < 8 || std::memcmp(File.data(), FileMagic, 8) != 0)
    return Refuse("is not a Chronicle trace");
  if (File.size() < FileHeaderSize)
    return Refuse(
        "was cut off inside its header: nothing of the trace is left");
  uint32_t Format = endian::read32le(File.data() + 8);
  uint32_t Stream = endian::read32le(File.data() + 12);
  if (Format != FormatVersion)
    return Refuse(
        "was written in trace format " + Twine(Format) +
        "; this Chronicle reads format " + Twine(FormatVersion) +
        ": open it with the Chronicle that recorded it, or record again");
  if (Stream != CH_STREAM_VERSION)
    return Refuse(
        "was written with replay programs of version " + Twine(Stream) +
        "; this Chronicle reads version " + Twine(CH_STREAM_VERSION) +
        ": open it with the Chronicle that recorded it, or record again");
  return Error::success();
}

StringRef pieceTypeName(PieceType Type) {
  static constexpr const char *Names[] = {
      "unknown",    "run",        "definitions", "block",     "pages",
      "timeline",   "checkpoint", "end",         "directory", "activations",
      "executions", "programs",   "chunks",      "blocks",    "threads",
      "index",      "contents",   "files"};
  return unsigned(Type) < PieceTypeCount ? Names[unsigned(Type)] : Names[0];
}

} // namespace chronicle::file
