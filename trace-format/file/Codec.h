// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Compression of pieces. LLVM's functions make a context for every call, which
/// costs more than compressing a small piece, so zstd is used directly here.
/// lz4 is for the pieces that are read most: it decompresses three times as
/// fast as zstd and takes a third more bytes (docs/performance.md).

#ifndef CHRONICLE_TRACE_FORMAT_FILE_CODEC_H
#define CHRONICLE_TRACE_FORMAT_FILE_CODEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace chronicle::file {

/// The numbers are those of the file (docs/format.md, "The database").
enum class Codec : uint8_t { None = 0, Zlib = 1, Zstd = 2, Lz4 = 3 };
constexpr Codec LastCodec = Codec::Lz4;

/// "none", "zlib", "zstd" or "lz4"; nothing for any other name.
std::optional<Codec> codecByName(llvm::StringRef Name);
llvm::StringRef codecName(Codec C);
/// Lowest and highest level of the codec.
std::pair<int, int> codecLevels(Codec C);

/// Compresses with contexts that it keeps. Use one object per thread.
class Compressor {
public:
  Compressor(Codec C, int Level);
  ~Compressor();
  Compressor(Compressor &&);
  /// Replaces Out. Returns the codec used: None, with Out untouched, if the
  /// result would not be smaller.
  Codec compress(llvm::ArrayRef<uint8_t> Raw,
                 llvm::SmallVectorImpl<uint8_t> &Out);

private:
  struct Context;
  std::unique_ptr<Context> Ctx;
  Codec Kind;
  int Level;
};

/// Decompresses Stored into exactly RawSize bytes at Out.
llvm::Error decompress(Codec C, llvm::ArrayRef<uint8_t> Stored, uint8_t *Out,
                       size_t RawSize);

} // namespace chronicle::file

#endif
