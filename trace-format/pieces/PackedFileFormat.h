// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The files that were packed into a trace (docs/format.md, "Packed files").
///
///   contents := bytes             a part of all packed files, one after the
///                                 other; the key is the place of its first
///                                 byte among them
///   files    := file*
///   file     := kind:u8 id-size:v id:u8* path-size:v path:u8* place:v size:v
///               digest:u8[32]
///
/// The contents are one sequence of bytes, cut into parts of a fixed size, so
/// that a thousand small sources compress as well as one large file, and
/// reading one file decompresses only its own parts.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_PACKEDFILEFORMAT_H
#define CHRONICLE_TRACE_FORMAT_PIECES_PACKEDFILEFORMAT_H

#include "trace-format/Bytes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace chronicle::pieces {

enum class PackedKind : uint8_t {
  Module = 1,        ///< an executable or a library
  Debug = 2,         ///< the debug info of a module
  Supplementary = 3, ///< what several debug files share (dwz)
  Source = 4,
};
constexpr uint8_t LastPackedKind = 4;

/// The bytes of a contents piece before compression; the last may be shorter.
constexpr uint64_t PackedPartSize = 1 << 20;

/// The largest file that a reader accepts.
constexpr uint64_t MaxPackedFile = uint64_t(1) << 32;

struct PackedFile {
  PackedKind Kind = PackedKind::Module;
  std::string BuildId; ///< hexadecimal; empty: none
  std::string Path;    ///< absolute, without "." and ".."
  uint64_t Offset = 0; ///< of its first byte in the sequence of contents
  uint64_t Size = 0;
  std::array<uint8_t, 32> Digest = {}; ///< BLAKE3 of its bytes
};

/// "module", "debug", "supplementary" or "source".
llvm::StringRef packedKindName(PackedKind Kind);

/// Whether a packed file may have this path: absolute, with at least one name,
/// no empty name, "." or "..", no zero byte, and no longer than Linux allows.
bool isPackedPath(llvm::StringRef Path);

void encodePackedFile(ByteWriter &Out, const PackedFile &File);
/// Adds the files of one piece. Fails if any of them is damaged, or has a path
/// that it may not have.
llvm::Error decodePackedFiles(llvm::ArrayRef<uint8_t> Raw,
                              std::vector<PackedFile> &Into);

} // namespace chronicle::pieces

#endif
