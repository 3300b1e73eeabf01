// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A trace file as a sequence of pieces.

#ifndef CHRONICLE_TRACE_FORMAT_FILE_PIECEFILE_H
#define CHRONICLE_TRACE_FORMAT_FILE_PIECEFILE_H

#include "trace-format/TraceData.h"
#include "trace-format/file/Directory.h"
#include "trace-format/file/Piece.h"
#include "llvm/ADT/StringRef.h"
#include <array>

namespace llvm {
class MemoryBuffer;
}

namespace chronicle::file {

/// Maps a file. Fails with a message for the user if it cannot be read, is not
/// a trace, or is not one that this version reads.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openTraceFile(llvm::StringRef Path);

/// The decompressed payload of a piece.
struct RawPiece {
  std::unique_ptr<uint8_t[]> Storage;
  uint64_t Size = 0;
  llvm::ArrayRef<uint8_t> bytes() const { return {Storage.get(), Size}; }
};

/// Finds and decompresses pieces. Keeps nothing: each call reads the file's
/// bytes, which the caller has mapped.
class PieceFile {
public:
  PieceFile() = default;
  explicit PieceFile(llvm::ArrayRef<uint8_t> Bytes) : Bytes(Bytes) {}

  llvm::ArrayRef<uint8_t> bytes() const { return Bytes; }
  /// Reads the header of the piece at an offset. It is an error if that is
  /// another piece than the directory says.
  llvm::Expected<Piece> at(uint64_t Offset, PieceType Type, uint64_t Key) const;
  llvm::Expected<Piece> at(const OtherPiece &P) const {
    return at(P.Offset, P.Type, P.Key);
  }
  llvm::Expected<RawPiece> read(uint64_t Offset, PieceType Type,
                                uint64_t Key) const;
  llvm::Expected<RawPiece> read(const OtherPiece &P) const {
    return read(P.Offset, P.Type, P.Key);
  }

  /// The directory that the footer at the end of the file names. It is an error
  /// if there is no sound footer, as in a trace whose writer was killed.
  llvm::Expected<Directory> readDirectory() const;

  /// Sizes by piece type, up to the end or to the first damaged header.
  std::array<PartSize, PieceTypeCount> partSizes() const;
  /// Reads every piece and checks its checksum; the error names the offset.
  llvm::Error checkAll() const;

private:
  llvm::ArrayRef<uint8_t> Bytes;
};

} // namespace chronicle::file

#endif
