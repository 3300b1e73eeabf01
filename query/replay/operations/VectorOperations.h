// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The integer vector operations of ReplayOps.def, on 64, 128 and 256 bits:
/// op_<Name>. Lanes are computed by plain loops of constant length, which the
/// compiler turns into vector code where the host has it.

#ifndef CHRONICLE_QUERY_REPLAY_OPERATIONS_VECTOROPERATIONS_H
#define CHRONICLE_QUERY_REPLAY_OPERATIONS_VECTOROPERATIONS_H

#include "query/replay/operations/IntegerOperations.h"
#include <algorithm>
#include <limits>

namespace chronicle::operations {

template <class E, class V> struct Lanes {
  static constexpr unsigned Count = sizeof(V) / sizeof(E);
  E L[Count];
  Lanes() = default;
  explicit Lanes(const V &Value) { std::memcpy(L, &Value, sizeof(V)); }
  V value() const { return loadValue<V>(L); }
};

template <class E, class V, class F> inline V mapLanes(V X, F Function) {
  Lanes<E, V> A(X);
  for (unsigned I = 0; I < A.Count; ++I)
    A.L[I] = static_cast<E>(Function(A.L[I]));
  return A.value();
}
template <class E, class V, class F> inline V mapLanes(V X, V Y, F Function) {
  Lanes<E, V> A(X), B(Y);
  for (unsigned I = 0; I < A.Count; ++I)
    A.L[I] = static_cast<E>(Function(A.L[I], B.L[I]));
  return A.value();
}

template <class To, class From> inline To saturate(From Value) {
  return static_cast<To>(std::clamp<From>(Value, std::numeric_limits<To>::min(),
                                          std::numeric_limits<To>::max()));
}

#define CH_LANES_AT(NAME, V, E, ...)                                           \
  inline V op_##NAME(V X, V Y) {                                               \
    return mapLanes<E>(X, Y, [](E A, E B) { return __VA_ARGS__; });            \
  }
#define CH_LANES_8(NAME, E, ...)                                               \
  CH_LANES_AT(NAME##x8, uint64_t, E, __VA_ARGS__)                              \
  CH_LANES_AT(NAME##x16, V128, E, __VA_ARGS__)                                 \
  CH_LANES_AT(NAME##x32, V256, E, __VA_ARGS__)
#define CH_LANES_16(NAME, E, ...)                                              \
  CH_LANES_AT(NAME##x4, uint64_t, E, __VA_ARGS__)                              \
  CH_LANES_AT(NAME##x8, V128, E, __VA_ARGS__)                                  \
  CH_LANES_AT(NAME##x16, V256, E, __VA_ARGS__)
#define CH_LANES_32(NAME, E, ...)                                              \
  CH_LANES_AT(NAME##x2, uint64_t, E, __VA_ARGS__)                              \
  CH_LANES_AT(NAME##x4, V128, E, __VA_ARGS__)                                  \
  CH_LANES_AT(NAME##x8, V256, E, __VA_ARGS__)
#define CH_LANES_64(NAME, E, ...)                                              \
  CH_LANES_AT(NAME##x2, V128, E, __VA_ARGS__)                                  \
  CH_LANES_AT(NAME##x4, V256, E, __VA_ARGS__)

CH_LANES_8(Add8, uint8_t, A + B)
CH_LANES_16(Add16, uint16_t, A + B)
CH_LANES_32(Add32, uint32_t, A + B)
CH_LANES_64(Add64, uint64_t, A + B)
CH_LANES_8(Sub8, uint8_t, A - B)
CH_LANES_16(Sub16, uint16_t, A - B)
CH_LANES_32(Sub32, uint32_t, A - B)
CH_LANES_64(Sub64, uint64_t, A - B)
CH_LANES_8(QAdd8U, uint8_t, saturate<uint8_t>(int(A) + B))
CH_LANES_16(QAdd16U, uint16_t, saturate<uint16_t>(int(A) + B))
CH_LANES_8(QAdd8S, int8_t, saturate<int8_t>(int(A) + B))
CH_LANES_16(QAdd16S, int16_t, saturate<int16_t>(int(A) + B))
CH_LANES_8(QSub8U, uint8_t, saturate<uint8_t>(int(A) - B))
CH_LANES_16(QSub16U, uint16_t, saturate<uint16_t>(int(A) - B))
CH_LANES_8(QSub8S, int8_t, saturate<int8_t>(int(A) - B))
CH_LANES_16(QSub16S, int16_t, saturate<int16_t>(int(A) - B))
CH_LANES_16(Mul16, uint16_t, uint32_t(A) * B)
CH_LANES_32(Mul32, uint32_t, A *B)
CH_LANES_16(MulHi16U, uint16_t, uint32_t(A) * B >> 16)
CH_LANES_16(MulHi16S, int16_t, int32_t(A) * B >> 16)
CH_LANES_8(Avg8U, uint8_t, (A + B + 1) >> 1)
CH_LANES_16(Avg16U, uint16_t, (A + B + 1) >> 1)
CH_LANES_8(Max8S, int8_t, A > B ? A : B)
CH_LANES_16(Max16S, int16_t, A > B ? A : B)
CH_LANES_32(Max32S, int32_t, A > B ? A : B)
CH_LANES_8(Max8U, uint8_t, A > B ? A : B)
CH_LANES_16(Max16U, uint16_t, A > B ? A : B)
CH_LANES_32(Max32U, uint32_t, A > B ? A : B)
CH_LANES_8(Min8S, int8_t, A < B ? A : B)
CH_LANES_16(Min16S, int16_t, A < B ? A : B)
CH_LANES_32(Min32S, int32_t, A < B ? A : B)
CH_LANES_8(Min8U, uint8_t, A < B ? A : B)
CH_LANES_16(Min16U, uint16_t, A < B ? A : B)
CH_LANES_32(Min32U, uint32_t, A < B ? A : B)
CH_LANES_8(CmpEQ8, int8_t, A == B ? -1 : 0)
CH_LANES_16(CmpEQ16, int16_t, A == B ? -1 : 0)
CH_LANES_32(CmpEQ32, int32_t, A == B ? -1 : 0)
CH_LANES_64(CmpEQ64, int64_t, A == B ? -1 : 0)
CH_LANES_8(CmpGT8S, int8_t, A > B ? -1 : 0)
CH_LANES_16(CmpGT16S, int16_t, A > B ? -1 : 0)
CH_LANES_32(CmpGT32S, int32_t, A > B ? -1 : 0)
CH_LANES_64(CmpGT64S, int64_t, A > B ? -1 : 0)

#define CH_NONZERO(NAME, V, E)                                                 \
  inline V op_##NAME(V X) {                                                    \
    return mapLanes<E>(X, [](E A) { return A ? -1 : 0; });                     \
  }
CH_NONZERO(CmpNEZ8x8, uint64_t, int8_t)
CH_NONZERO(CmpNEZ16x4, uint64_t, int16_t)
CH_NONZERO(CmpNEZ32x2, uint64_t, int32_t)
CH_NONZERO(CmpNEZ8x16, V128, int8_t)
CH_NONZERO(CmpNEZ16x8, V128, int16_t)
CH_NONZERO(CmpNEZ32x4, V128, int32_t)
CH_NONZERO(CmpNEZ64x2, V128, int64_t)
CH_NONZERO(CmpNEZ8x32, V256, int8_t)
CH_NONZERO(CmpNEZ16x16, V256, int16_t)
CH_NONZERO(CmpNEZ32x8, V256, int32_t)
CH_NONZERO(CmpNEZ64x4, V256, int64_t)
#undef CH_NONZERO

// If the amount is the lane's width or more, the result is zero, or for Sar the
// sign.
template <class E, class V> inline V shiftLeft(V X, uint8_t N) {
  if (N >= 8 * sizeof(E))
    return V();
  return mapLanes<E>(X, [N](E A) { return A << N; });
}
template <class E, class V> inline V shiftRight(V X, uint8_t N) {
  if (N >= 8 * sizeof(E)) {
    if (!std::numeric_limits<E>::is_signed)
      return V();
    N = 8 * sizeof(E) - 1;
  }
  return mapLanes<E>(X, [N](E A) { return A >> N; });
}
#define CH_SHIFT(NAME, V, FUNCTION, E)                                         \
  inline V op_##NAME(V X, uint8_t N) { return FUNCTION<E>(X, N); }
CH_SHIFT(ShlN16x4, uint64_t, shiftLeft, uint16_t)
CH_SHIFT(ShlN32x2, uint64_t, shiftLeft, uint32_t)
CH_SHIFT(ShrN16x4, uint64_t, shiftRight, uint16_t)
CH_SHIFT(ShrN32x2, uint64_t, shiftRight, uint32_t)
CH_SHIFT(SarN16x4, uint64_t, shiftRight, int16_t)
CH_SHIFT(SarN32x2, uint64_t, shiftRight, int32_t)
CH_SHIFT(ShlN16x8, V128, shiftLeft, uint16_t)
CH_SHIFT(ShlN32x4, V128, shiftLeft, uint32_t)
CH_SHIFT(ShlN64x2, V128, shiftLeft, uint64_t)
CH_SHIFT(ShrN16x8, V128, shiftRight, uint16_t)
CH_SHIFT(ShrN32x4, V128, shiftRight, uint32_t)
CH_SHIFT(ShrN64x2, V128, shiftRight, uint64_t)
CH_SHIFT(SarN16x8, V128, shiftRight, int16_t)
CH_SHIFT(SarN32x4, V128, shiftRight, int32_t)
CH_SHIFT(ShlN16x16, V256, shiftLeft, uint16_t)
CH_SHIFT(ShlN32x8, V256, shiftLeft, uint32_t)
CH_SHIFT(ShlN64x4, V256, shiftLeft, uint64_t)
CH_SHIFT(ShrN16x16, V256, shiftRight, uint16_t)
CH_SHIFT(ShrN32x8, V256, shiftRight, uint32_t)
CH_SHIFT(ShrN64x4, V256, shiftRight, uint64_t)
CH_SHIFT(SarN16x16, V256, shiftRight, int16_t)
CH_SHIFT(SarN32x8, V256, shiftRight, int32_t)
#undef CH_SHIFT
// No instruction does these three: VEX composes them, with amounts modulo the
// lane's width.
inline uint64_t op_SarN8x8(uint64_t X, uint8_t N) {
  return shiftRight<int8_t>(X, N & 7);
}
inline V128 op_SarN8x16(V128 X, uint8_t N) {
  return shiftRight<int8_t>(X, N & 7);
}
inline V128 op_SarN64x2(V128 X, uint8_t N) {
  return shiftRight<int64_t>(X, N & 63);
}

/// The left operand's lanes, narrowed, become the upper half of the result.
template <class To, class From, class V, class F>
inline V narrow(V X, V Y, F Function) {
  Lanes<From, V> A(X), B(Y);
  Lanes<To, V> R;
  for (unsigned I = 0; I < A.Count; ++I) {
    R.L[I] = Function(B.L[I]);
    R.L[I + A.Count] = Function(A.L[I]);
  }
  return R.value();
}
#define CH_NARROW(NAME, V, FROM, TO, ...)                                      \
  inline V op_##NAME(V X, V Y) {                                               \
    return narrow<TO, FROM>(X, Y, [](FROM A) { return __VA_ARGS__; });         \
  }
CH_NARROW(QNarrowBin16Sto8Ux8, uint64_t, int16_t, uint8_t,
          saturate<uint8_t>(int(A)))
CH_NARROW(QNarrowBin16Sto8Sx8, uint64_t, int16_t, int8_t,
          saturate<int8_t>(int(A)))
CH_NARROW(QNarrowBin32Sto16Sx4, uint64_t, int32_t, int16_t,
          saturate<int16_t>(int(A)))
CH_NARROW(NarrowBin16to8x8, uint64_t, uint16_t, uint8_t, uint8_t(A))
CH_NARROW(NarrowBin32to16x4, uint64_t, uint32_t, uint16_t, uint16_t(A))
CH_NARROW(QNarrowBin16Sto8Ux16, V128, int16_t, uint8_t,
          saturate<uint8_t>(int(A)))
CH_NARROW(QNarrowBin16Sto8Sx16, V128, int16_t, int8_t, saturate<int8_t>(int(A)))
CH_NARROW(QNarrowBin32Sto16Ux8, V128, int32_t, uint16_t,
          saturate<uint16_t>(int(A)))
CH_NARROW(QNarrowBin32Sto16Sx8, V128, int32_t, int16_t,
          saturate<int16_t>(int(A)))
CH_NARROW(NarrowBin16to8x16, V128, uint16_t, uint8_t, uint8_t(A))
CH_NARROW(NarrowBin32to16x8, V128, uint32_t, uint16_t, uint16_t(A))
#undef CH_NARROW

/// Takes lanes of the right and the left operand in turn, the right one first.
template <class E, bool High, class V> inline V interleave(V X, V Y) {
  Lanes<E, V> A(X), B(Y), R;
  constexpr unsigned First = High ? Lanes<E, V>::Count / 2 : 0;
  for (unsigned I = 0; I < A.Count / 2; ++I) {
    R.L[2 * I] = B.L[First + I];
    R.L[2 * I + 1] = A.L[First + I];
  }
  return R.value();
}
#define CH_INTERLEAVE(SUFFIX, V, E)                                            \
  inline V op_InterleaveHI##SUFFIX(V X, V Y) {                                 \
    return interleave<E, true>(X, Y);                                          \
  }                                                                            \
  inline V op_InterleaveLO##SUFFIX(V X, V Y) {                                 \
    return interleave<E, false>(X, Y);                                         \
  }
CH_INTERLEAVE(8x8, uint64_t, uint8_t)
CH_INTERLEAVE(16x4, uint64_t, uint16_t)
CH_INTERLEAVE(32x2, uint64_t, uint32_t)
CH_INTERLEAVE(8x16, V128, uint8_t)
CH_INTERLEAVE(16x8, V128, uint16_t)
CH_INTERLEAVE(32x4, V128, uint32_t)
CH_INTERLEAVE(64x2, V128, uint64_t)
#undef CH_INTERLEAVE

template <unsigned First> inline uint64_t catLanes16(uint64_t X, uint64_t Y) {
  Lanes<uint16_t, uint64_t> A(X), B(Y), R;
  R.L[0] = B.L[First];
  R.L[1] = B.L[First + 2];
  R.L[2] = A.L[First];
  R.L[3] = A.L[First + 2];
  return R.value();
}
inline uint64_t op_CatOddLanes16x4(uint64_t X, uint64_t Y) {
  return catLanes16<1>(X, Y);
}
inline uint64_t op_CatEvenLanes16x4(uint64_t X, uint64_t Y) {
  return catLanes16<0>(X, Y);
}

template <class V> inline V permuteOrZero(V X, V Y) {
  Lanes<uint8_t, V> A(X), B(Y), R;
  for (unsigned I = 0; I < A.Count; ++I)
    R.L[I] = B.L[I] & 0x80 ? 0 : A.L[B.L[I] % A.Count];
  return R.value();
}
inline uint64_t op_PermOrZero8x8(uint64_t X, uint64_t Y) {
  return permuteOrZero(X, Y);
}
inline V128 op_PermOrZero8x16(V128 X, V128 Y) { return permuteOrZero(X, Y); }
template <class V> inline V permute32(V X, V Y) {
  Lanes<uint32_t, V> A(X), B(Y), R;
  for (unsigned I = 0; I < A.Count; ++I)
    R.L[I] = A.L[B.L[I] % A.Count];
  return R.value();
}
inline V128 op_Perm32x4(V128 X, V128 Y) { return permute32(X, Y); }
inline V256 op_Perm32x8(V256 X, V256 Y) { return permute32(X, Y); }

/// Gathers bit 7 of each byte. The product shifts each of them to another bit
/// of the top byte.
inline uint8_t op_GetMSBs8x8(uint64_t X) {
  return static_cast<uint8_t>(
      ((X >> 7) & 0x0101010101010101) * 0x0102040810204080 >> 56);
}
inline uint16_t op_GetMSBs8x16(V128 X) {
  return static_cast<uint16_t>(op_GetMSBs8x8(X.W[0]) | op_GetMSBs8x8(X.W[1])
                                                           << 8);
}

/// Multiplies unsigned bytes of the left operand by signed bytes of the right
/// one, and adds pairs of products with saturation.
inline V128 op_PwExtUSMulQAdd8x16(V128 X, V128 Y) {
  Lanes<uint8_t, V128> A(X);
  Lanes<int8_t, V128> B(Y);
  Lanes<int16_t, V128> R;
  for (unsigned I = 0; I < 8; ++I)
    R.L[I] = saturate<int16_t>(A.L[2 * I] * B.L[2 * I] +
                               A.L[2 * I + 1] * B.L[2 * I + 1]);
  return R.value();
}

inline uint64_t op_V128to64(V128 X) { return X.W[0]; }
inline uint64_t op_V128HIto64(V128 X) { return X.W[1]; }
inline uint32_t op_V128to32(V128 X) { return static_cast<uint32_t>(X.W[0]); }
inline V128 op_64HLtoV128(uint64_t X, uint64_t Y) { return {{Y, X}}; }
inline V128 op_64UtoV128(uint64_t X) { return {{X, 0}}; }
inline V128 op_32UtoV128(uint32_t X) { return {{X, 0}}; }
inline V128 op_SetV128lo64(V128 X, uint64_t Y) { return {{Y, X.W[1]}}; }
inline V128 op_SetV128lo32(V128 X, uint32_t Y) {
  return {{(X.W[0] & 0xffffffff00000000) | Y, X.W[1]}};
}
inline uint64_t op_V256to64_0(V256 X) { return X.H[0].W[0]; }
inline uint64_t op_V256to64_1(V256 X) { return X.H[0].W[1]; }
inline uint64_t op_V256to64_2(V256 X) { return X.H[1].W[0]; }
inline uint64_t op_V256to64_3(V256 X) { return X.H[1].W[1]; }
inline V256 op_64x4toV256(uint64_t X, uint64_t Y, uint64_t Z, uint64_t U) {
  return {{{{U, Z}}, {{Y, X}}}};
}
inline V128 op_V256toV128_0(V256 X) { return X.H[0]; }
inline V128 op_V256toV128_1(V256 X) { return X.H[1]; }
inline V256 op_V128HLtoV256(V128 X, V128 Y) { return {{Y, X}}; }

inline V128 op_NotV128(V128 X) { return {{~X.W[0], ~X.W[1]}}; }
inline V128 op_AndV128(V128 X, V128 Y) {
  return {{X.W[0] & Y.W[0], X.W[1] & Y.W[1]}};
}
inline V128 op_OrV128(V128 X, V128 Y) {
  return {{X.W[0] | Y.W[0], X.W[1] | Y.W[1]}};
}
inline V128 op_XorV128(V128 X, V128 Y) {
  return {{X.W[0] ^ Y.W[0], X.W[1] ^ Y.W[1]}};
}
inline V256 op_NotV256(V256 X) {
  return {{op_NotV128(X.H[0]), op_NotV128(X.H[1])}};
}
inline V256 op_AndV256(V256 X, V256 Y) {
  return {{op_AndV128(X.H[0], Y.H[0]), op_AndV128(X.H[1], Y.H[1])}};
}
inline V256 op_OrV256(V256 X, V256 Y) {
  return {{op_OrV128(X.H[0], Y.H[0]), op_OrV128(X.H[1], Y.H[1])}};
}
inline V256 op_XorV256(V256 X, V256 Y) {
  return {{op_XorV128(X.H[0], Y.H[0]), op_XorV128(X.H[1], Y.H[1])}};
}

} // namespace chronicle::operations

#endif
