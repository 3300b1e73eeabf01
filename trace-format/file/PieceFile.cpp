// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/PieceFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cinttypes>

using namespace llvm;

namespace chronicle::file {

Expected<std::unique_ptr<MemoryBuffer>> openTraceFile(StringRef Path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = MemoryBuffer::getFile(
      Path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!Buffer)
    return createStringError(Buffer.getError(),
                             "cannot open '" + Path +
                                 "': " + Buffer.getError().message());
  if (Error E =
          checkFileHeader(arrayRefFromStringRef((*Buffer)->getBuffer()), Path))
    return E;
  return std::move(*Buffer);
}

Expected<Piece> PieceFile::at(uint64_t Offset, PieceType Type,
                              uint64_t Key) const {
  Expected<Piece> P = Piece::at(Bytes, Offset);
  if (!P)
    return P.takeError();
  if (P->Type != Type || P->Key != Key)
    return createStringError("at offset %" PRIu64
                             ": not the %s the directory says",
                             Offset, pieceTypeName(Type).data());
  return P;
}

Expected<RawPiece> PieceFile::read(uint64_t Offset, PieceType Type,
                                   uint64_t Key) const {
  Expected<Piece> P = at(Offset, Type, Key);
  if (!P)
    return P.takeError();
  Expected<std::unique_ptr<uint8_t[]>> Storage = P->read();
  if (!Storage)
    return Storage.takeError();
  return RawPiece{std::move(*Storage), P->RawSize};
}

Expected<Directory> PieceFile::readDirectory() const {
  std::optional<uint64_t> Offset = decodeFooter(Bytes);
  if (!Offset)
    return createStringError("the file does not end in a footer");
  Expected<RawPiece> Raw = read(*Offset, PieceType::Directory, /*Key=*/0);
  if (!Raw)
    return Raw.takeError();
  return decodeDirectory(Raw->bytes());
}

std::array<PartSize, PieceTypeCount> PieceFile::partSizes() const {
  std::array<PartSize, PieceTypeCount> Parts;
  for (uint64_t Offset = FileHeaderSize; Offset < Bytes.size();) {
    if (isFooter(Bytes, Offset)) {
      Offset += FooterSize;
      continue;
    }
    Expected<Piece> P = Piece::at(Bytes, Offset);
    if (!P) {
      consumeError(P.takeError());
      break;
    }
    PartSize &S = Parts[unsigned(P->Type)];
    ++S.Pieces;
    S.Stored += P->End - P->Offset;
    S.Raw += P->RawSize;
    Offset = P->End;
  }
  return Parts;
}

Error PieceFile::checkAll() const {
  for (uint64_t Offset = FileHeaderSize; Offset < Bytes.size();) {
    if (isFooter(Bytes, Offset)) {
      Offset += FooterSize;
      continue;
    }
    Expected<Piece> P = Piece::at(Bytes, Offset);
    if (!P)
      return P.takeError();
    if (Error E = P->check())
      return E;
    Offset = P->End;
  }
  return Error::success();
}

} // namespace chronicle::file
