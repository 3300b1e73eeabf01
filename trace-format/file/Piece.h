// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One piece of the file: its header, checksum and payload.
///
///   piece := magic:u32 type:u8 codec:u8 zero:u16 raw-size:u32 stored-size:u32
///            key:u64 checksum:u64 payload:u8[stored-size] padding to 8

#ifndef CHRONICLE_TRACE_FORMAT_FILE_PIECE_H
#define CHRONICLE_TRACE_FORMAT_FILE_PIECE_H

#include "trace-format/FileFormat.h"
#include "trace-format/file/Codec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace chronicle::file {

/// A piece as it lies in the file.
struct Piece {
  uint64_t Offset = 0;
  PieceType Type = PieceType::Run;
  Codec Compression = Codec::None;
  uint32_t RawSize = 0;
  uint64_t Key = 0;
  uint64_t Checksum = 0;
  llvm::ArrayRef<uint8_t> Stored;
  /// Where the next piece starts.
  uint64_t End = 0;

  /// Reads the header at \p Offset of the file's bytes. Sizes are validated
  /// against the file; the payload is not touched.
  static llvm::Expected<Piece> at(llvm::ArrayRef<uint8_t> File,
                                  uint64_t Offset);
  /// Reads all of the payload.
  llvm::Error check() const;
  /// The payload, decompressed, after check().
  llvm::Expected<std::unique_ptr<uint8_t[]>> read() const;
  /// The same, into RawSize bytes of the caller.
  llvm::Error readInto(uint8_t *Raw) const;
};

/// Writes the 32 bytes of a piece's header, checksum included, to \p Out.
void encodePieceHeader(uint8_t *Out, PieceType Type, Codec Compression,
                       uint32_t RawSize, uint64_t Key,
                       llvm::ArrayRef<uint8_t> Stored);

/// The 64 bytes a file starts with, and the 32 it ends with.
void encodeFileHeader(uint8_t *Out);
void encodeFooter(uint8_t *Out, uint64_t DirectoryOffset, uint64_t FileSize);
/// Whether a sound footer is at the offset. Before the end of the file it is
/// one that the file ended in until something was added behind it.
bool isFooter(llvm::ArrayRef<uint8_t> File, uint64_t Offset);
/// The directory's offset, or nothing if there is no sound footer at the end.
std::optional<uint64_t> decodeFooter(llvm::ArrayRef<uint8_t> File);
/// Fails with a message for the user if this is not a trace, or not one that
/// this version reads.
llvm::Error checkFileHeader(llvm::ArrayRef<uint8_t> File, llvm::StringRef Path);

llvm::StringRef pieceTypeName(PieceType Type);

} // namespace chronicle::file

#endif
