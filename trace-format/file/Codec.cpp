// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/file/Codec.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Compression.h"
#include <cstring>
#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

using namespace llvm;

namespace chronicle::file {

std::optional<Codec> codecByName(StringRef Name) {
  return StringSwitch<std::optional<Codec>>(Name)
      .Case("none", Codec::None)
      .Case("zlib", Codec::Zlib)
      .Case("zstd", Codec::Zstd)
      .Case("lz4", Codec::Lz4)
      .Default(std::nullopt);
}

StringRef codecName(Codec C) {
  switch (C) {
  case Codec::None:
    return "none";
  case Codec::Zlib:
    return "zlib";
  case Codec::Zstd:
    return "zstd";
  case Codec::Lz4:
    return "lz4";
  }
  return "unknown";
}

std::pair<int, int> codecLevels(Codec C) {
  switch (C) {
  case Codec::None:
    break;
  case Codec::Zlib:
    return {1, 9};
  case Codec::Zstd:
    return {1, 19};
  case Codec::Lz4:
    return {1, LZ4HC_CLEVEL_MAX};
  }
  return {0, 0};
}

struct Compressor::Context {
  ZSTD_CCtx *Zstd = nullptr;
  LZ4_stream_t Lz4;
  ~Context() { ZSTD_freeCCtx(Zstd); }
};

Compressor::Compressor(Codec C, int Level)
    : Ctx(std::make_unique<Context>()), Kind(C), Level(Level) {
  if (C == Codec::Zstd)
    Ctx->Zstd = ZSTD_createCCtx();
}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor &&) = default;

Codec Compressor::compress(ArrayRef<uint8_t> Raw,
                           SmallVectorImpl<uint8_t> &Out) {
  if (Raw.empty())
    return Codec::None;
  switch (Kind) {
  case Codec::None:
    return Codec::None;
  case Codec::Zlib:
    Out.clear();
    compression::zlib::compress(Raw, Out, Level);
    break;
  case Codec::Zstd: {
    Out.resize_for_overwrite(ZSTD_compressBound(Raw.size()));
    size_t Size = ZSTD_compressCCtx(Ctx->Zstd, Out.data(), Out.size(),
                                    Raw.data(), Raw.size(), Level);
    // Compression fails only for lack of memory. The piece is still good if it
    // is stored as it is.
    if (ZSTD_isError(Size))
      return Codec::None;
    Out.truncate(Size);
    break;
  }
  case Codec::Lz4: {
    const auto *In = reinterpret_cast<const char *>(Raw.data());
    const int Size = int(Raw.size()), Room = LZ4_compressBound(Size);
    // More than lz4 can take at once is stored as it is.
    if (Raw.size() > LZ4_MAX_INPUT_SIZE)
      return Codec::None;
    Out.resize_for_overwrite(size_t(Room));
    auto *To = reinterpret_cast<char *>(Out.data());
    int Written = Level < LZ4HC_CLEVEL_MIN
                      ? LZ4_compress_fast_extState(&Ctx->Lz4, In, To, Size,
                                                   Room, /*acceleration=*/1)
                      : LZ4_compress_HC(In, To, Size, Room, Level);
    if (Written <= 0)
      return Codec::None;
    Out.truncate(size_t(Written));
    break;
  }
  }
  return Out.size() < Raw.size() ? Kind : Codec::None;
}

Error decompress(Codec C, ArrayRef<uint8_t> Stored, uint8_t *Out,
                 size_t RawSize) {
  size_t Size = RawSize;
  switch (C) {
  case Codec::None:
    if (Stored.size() != RawSize)
      return createStringError("stored and raw size differ");
    if (RawSize)
      std::memcpy(Out, Stored.data(), RawSize);
    return Error::success();
  case Codec::Zlib:
    if (Error E = compression::zlib::decompress(Stored, Out, Size))
      return E;
    break;
  case Codec::Zstd: {
    struct Context {
      ZSTD_DCtx *D = ZSTD_createDCtx();
      ~Context() { ZSTD_freeDCtx(D); }
    };
    static thread_local Context Ctx;
    Size =
        ZSTD_decompressDCtx(Ctx.D, Out, RawSize, Stored.data(), Stored.size());
    if (ZSTD_isError(Size))
      return createStringError("zstd: %s", ZSTD_getErrorName(Size));
    break;
  }
  case Codec::Lz4: {
    int Got = LZ4_decompress_safe(reinterpret_cast<const char *>(Stored.data()),
                                  reinterpret_cast<char *>(Out),
                                  int(Stored.size()), int(RawSize));
    if (Got < 0)
      return createStringError("lz4: the bytes are damaged");
    Size = size_t(Got);
    break;
  }
  default:
    return createStringError("unknown codec %u", unsigned(C));
  }
  if (Size != RawSize)
    return createStringError("decompressed to %zu bytes instead of %zu", Size,
                             RawSize);
  return Error::success();
}

} // namespace chronicle::file
