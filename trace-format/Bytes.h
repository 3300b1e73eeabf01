// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes and reads bytes: the v, z and uN of docs/format.md. The LEB128
/// functions of LLVM work on streams or unbounded pointers; these append to a
/// buffer in the indexer's hot loop, and never read past an end.

#ifndef CHRONICLE_TRACE_FORMAT_BYTES_H
#define CHRONICLE_TRACE_FORMAT_BYTES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include <cstdint>

namespace chronicle {

inline uint64_t zigzag(int64_t N) {
  return (uint64_t(N) << 1) ^ uint64_t(N >> 63);
}
inline int64_t unzigzag(uint64_t N) {
  return int64_t(N >> 1) ^ -int64_t(N & 1);
}

/// The most bytes that a v takes.
constexpr size_t MaxNumberBytes = 10;

/// Writes a v and returns where it ends.
inline uint8_t *writeNumber(uint8_t *To, uint64_t N) {
  for (; N >= 0x80; N >>= 7)
    *To++ = uint8_t(N) | 0x80;
  *To++ = uint8_t(N);
  return To;
}

/// A growing buffer of bytes.
class ByteWriter {
public:
  void u8(uint8_t N) { Data.push_back(N); }
  void u32(uint32_t N) { fixed(N); }
  void u64(uint64_t N) { fixed(N); }
  void v(uint64_t N) {
    const size_t Start = size();
    uint8_t *To = grow(MaxNumberBytes);
    truncate(Start + size_t(writeNumber(To, N) - To));
  }
  void z(int64_t N) { v(zigzag(N)); }
  void bytes(const void *P, size_t Size) {
    const auto *B = static_cast<const uint8_t *>(P);
    Data.append(B, B + Size);
  }
  void bytes(llvm::ArrayRef<uint8_t> B) { Data.append(B.begin(), B.end()); }
  void bytes(llvm::StringRef S) { bytes(S.data(), S.size()); }
  /// Adds Size bytes, which the caller must fill.
  uint8_t *grow(size_t Size) {
    size_t Old = Data.size();
    Data.resize_for_overwrite(Old + Size);
    return Data.data() + Old;
  }

  /// Bytes that were written before, for the caller to change.
  uint8_t *at(size_t Offset) { return Data.data() + Offset; }
  void truncate(size_t Size) { Data.truncate(Size); }

  size_t size() const { return Data.size(); }
  bool empty() const { return Data.empty(); }
  size_t capacity() const { return Data.capacity(); }
  void reserve(size_t Size) { Data.reserve(Size); }
  void clear() { Data.clear(); }
  llvm::ArrayRef<uint8_t> data() const { return Data; }
  llvm::SmallVector<uint8_t, 0> take() {
    auto Result = std::move(Data);
    Data = {};
    return Result;
  }

private:
  template <typename T> void fixed(T N) {
    llvm::support::endian::write<T, llvm::endianness::little>(grow(sizeof(T)),
                                                              N);
  }
  llvm::SmallVector<uint8_t, 0> Data;
};

/// A cursor that fails for good instead of reading past the end: callers decode
/// a stretch and then look at failed() once. After a failure all values are 0.
class ByteReader {
public:
  ByteReader() = default;
  explicit ByteReader(llvm::ArrayRef<uint8_t> Bytes)
      : P(Bytes.begin()), End(Bytes.end()) {}

  uint8_t u8() { return need(1) ? *P++ : 0; }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }
  uint64_t v() {
    uint64_t Value = 0;
    for (unsigned Shift = 0; need(1); Shift += 7) {
      uint8_t B = *P++;
      // The tenth byte has one bit left; anything more is not a number.
      if (Shift == 63 && B > 1)
        break;
      Value |= uint64_t(B & 0x7f) << Shift;
      if (!(B & 0x80))
        return Value;
      if (Shift == 63)
        break;
    }
    fail();
    return 0;
  }
  int64_t z() { return unzigzag(v()); }
  /// Skips Count numbers: each ends in a byte below 0x80.
  void skipNumbers(uint64_t Count) {
    for (; Count; --Count) {
      while (P != End && *P >= 0x80)
        ++P;
      if (!need(1))
        return;
      ++P;
    }
  }
  llvm::ArrayRef<uint8_t> bytes(uint64_t Size) {
    if (!need(Size))
      return {};
    llvm::ArrayRef<uint8_t> Result(P, Size);
    P += Size;
    return Result;
  }

  llvm::ArrayRef<uint8_t> rest() const { return {P, End}; }
  size_t left() const { return End - P; }
  bool atEnd() const { return P == End; }
  bool failed() const { return Failed; }
  void fail() {
    Failed = true;
    P = End;
  }

private:
  bool need(uint64_t Size) {
    if (Size <= uint64_t(End - P))
      return true;
    fail();
    return false;
  }
  template <typename T> T fixed() {
    if (!need(sizeof(T)))
      return 0;
    T N = llvm::support::endian::read<T, llvm::endianness::little>(P);
    P += sizeof(T);
    return N;
  }
  const uint8_t *P = nullptr, *End = nullptr;
  bool Failed = false;
};

} // namespace chronicle

#endif
