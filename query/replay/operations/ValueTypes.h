// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The C++ types behind ch_type, and unaligned access to them. Values are
/// little-endian in the guest state, in temps and in memory, as on the host.

#ifndef CHRONICLE_QUERY_REPLAY_OPERATIONS_VALUETYPES_H
#define CHRONICLE_QUERY_REPLAY_OPERATIONS_VALUETYPES_H

#include <bit>
#include <cstdint>
#include <cstring>

namespace chronicle::operations {

static_assert(std::endian::native == std::endian::little,
              "replay aliases narrow values with the low bytes of wide ones");

__extension__ using UInt128 = unsigned __int128;
__extension__ using Int128 = __int128;

struct V128 {
  uint64_t W[2];
};
struct V256 {
  V128 H[2];
};

using TypeI1 = uint8_t;
using TypeI8 = uint8_t;
using TypeI16 = uint16_t;
using TypeI32 = uint32_t;
using TypeI64 = uint64_t;
using TypeI128 = UInt128;
/// Floating-point values are passed as their bits, so that a NaN's payload
/// survives.
using TypeF32 = uint32_t;
using TypeF64 = uint64_t;
using TypeV128 = V128;
using TypeV256 = V256;

template <class T> inline T loadValue(const void *From) {
  T Value;
  std::memcpy(&Value, From, sizeof(T));
  return Value;
}
template <class T> inline void storeValue(void *To, const T &Value) {
  std::memcpy(To, &Value, sizeof(T));
}

} // namespace chronicle::operations

#endif
