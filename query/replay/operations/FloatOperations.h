// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The floating-point operations of ReplayOps.def: op_<Name>. They give on any
/// host what SSE gives with the control word that VEX's code runs under (round
/// to nearest, no flushing). Ordinary results are those of IEEE 754. A NaN is
/// the first operand that is one, made quiet, or SSE's default. Where VEX's
/// back end ignores the rounding mode, so do these.
///
/// Must be compiled without -ffast-math and with -ffp-contract=off.

#ifndef CHRONICLE_QUERY_REPLAY_OPERATIONS_FLOATOPERATIONS_H
#define CHRONICLE_QUERY_REPLAY_OPERATIONS_FLOATOPERATIONS_H

#include "query/replay/operations/VectorOperations.h"
#include <bit>
#include <cmath>

namespace chronicle::operations {

/// What is known about a format by the type of its bits.
template <class Bits> struct Format;
template <> struct Format<uint32_t> {
  using Float = float;
  using Signed = int32_t;
  static constexpr uint32_t Sign = 0x80000000, Infinity = 0x7f800000,
                            Quiet = 0x00400000, DefaultNaN = 0xffc00000;
};
template <> struct Format<uint64_t> {
  using Float = double;
  using Signed = int64_t;
  static constexpr uint64_t Sign = 0x8000000000000000,
                            Infinity = 0x7ff0000000000000,
                            Quiet = 0x0008000000000000,
                            DefaultNaN = 0xfff8000000000000;
};

template <class Bits> inline auto toFloat(Bits X) {
  return std::bit_cast<typename Format<Bits>::Float>(X);
}
inline uint32_t toBits(float X) { return std::bit_cast<uint32_t>(X); }
inline uint64_t toBits(double X) { return std::bit_cast<uint64_t>(X); }

template <class Bits> inline bool isNaN(Bits X) {
  return (X & ~Format<Bits>::Sign) > Format<Bits>::Infinity;
}

/// The result of an operation, where R is a NaN.
template <class Bits> inline Bits chooseNaN(Bits X, Bits Y) {
  if (isNaN(X))
    return X | Format<Bits>::Quiet;
  if (isNaN(Y))
    return Y | Format<Bits>::Quiet;
  return Format<Bits>::DefaultNaN;
}

#define CH_ARITHMETIC(NAME, OPERATOR)                                          \
  template <class Bits> inline Bits NAME(Bits X, Bits Y) {                     \
    auto R = toFloat(X) OPERATOR toFloat(Y);                                   \
    return R == R ? toBits(R) : chooseNaN(X, Y);                               \
  }
CH_ARITHMETIC(addFloat, +)
CH_ARITHMETIC(subFloat, -)
CH_ARITHMETIC(mulFloat, *)
CH_ARITHMETIC(divFloat, /)
#undef CH_ARITHMETIC

template <class Bits> inline Bits sqrtFloat(Bits X) {
  auto R = std::sqrt(toFloat(X));
  return R == R ? toBits(R) : chooseNaN(X, X);
}
// Not symmetric: the result is the second operand if one is a NaN, or both are
// zero.
template <class Bits> inline Bits maxFloat(Bits X, Bits Y) {
  return toFloat(X) > toFloat(Y) ? X : Y;
}
template <class Bits> inline Bits minFloat(Bits X, Bits Y) {
  return toFloat(X) < toFloat(Y) ? X : Y;
}
template <class Bits> inline Bits cmpEQFloat(Bits X, Bits Y) {
  return toFloat(X) == toFloat(Y) ? ~Bits(0) : 0;
}
template <class Bits> inline Bits cmpLTFloat(Bits X, Bits Y) {
  return toFloat(X) < toFloat(Y) ? ~Bits(0) : 0;
}
template <class Bits> inline Bits cmpLEFloat(Bits X, Bits Y) {
  return toFloat(X) <= toFloat(Y) ? ~Bits(0) : 0;
}
template <class Bits> inline Bits cmpUNFloat(Bits X, Bits Y) {
  return isNaN(X) || isNaN(Y) ? ~Bits(0) : 0;
}

enum RoundingMode : uint32_t { Nearest = 0, Down = 1, Up = 2, Zero = 3 };

/// The neighbour of a finite or infinite X, towards plus infinity or minus.
template <class Bits> inline Bits neighbour(Bits X, bool Upwards) {
  using F = Format<Bits>;
  if ((X & ~F::Sign) == 0)
    return Upwards ? 1 : F::Sign | 1;
  return ((X & F::Sign) != 0) == Upwards ? X - 1 : X + 1;
}

/// Makes a result rounded to nearest one rounded by Mode. Excess is negative if
/// it is smaller than the exact value, positive if larger.
template <class Bits>
inline Bits correctRounding(uint32_t Mode, Bits Rounded, int Excess) {
  if (Excess == 0 || (Mode & 3) == Nearest)
    return Rounded;
  bool Negative = Rounded & Format<Bits>::Sign;
  bool Upwards = (Mode & 3) == Up || ((Mode & 3) == Zero && Negative);
  if (Upwards)
    return Excess < 0 ? neighbour(Rounded, true) : Rounded;
  return Excess > 0 ? neighbour(Rounded, false) : Rounded;
}

template <class Float> inline Float roundToIntegral(uint32_t Mode, Float X) {
  switch (Mode & 3) {
  case Down:
    return std::floor(X);
  case Up:
    return std::ceil(X);
  case Zero:
    return std::trunc(X);
  default:
    return std::nearbyint(X);
  }
}
template <class Bits> inline Bits roundFloatToInt(uint32_t Mode, Bits X) {
  if (isNaN(X))
    return X | Format<Bits>::Quiet;
  return toBits(roundToIntegral(Mode, toFloat(X)));
}

/// A value that does not fit becomes the most negative integer.
template <class Int, class Bits>
inline std::make_unsigned_t<Int> floatToInt(uint32_t Mode, Bits X) {
  using Float = Format<Bits>::Float;
  constexpr Float Limit = -static_cast<Float>(std::numeric_limits<Int>::min());
  Float R = toFloat(X);
  if ((Mode & 3) != Zero)
    R = roundToIntegral(Mode, R);
  // Truncation may bring values down to -Limit that are below it.
  bool Fits = (Mode & 3) == Zero ? std::trunc(R) >= -Limit && R < Limit
                                 : R >= -Limit && R < Limit;
  return static_cast<std::make_unsigned_t<Int>>(
      Fits ? static_cast<Int>(R) : std::numeric_limits<Int>::min());
}

template <class Bits, class Int> inline Bits intToFloat(uint32_t Mode, Int X) {
  auto R = static_cast<Format<Bits>::Float>(X);
  if ((Mode & 3) == Nearest)
    return toBits(R);
  Int128 Back = static_cast<Int128>(R);
  return correctRounding(Mode, toBits(R), Back < X ? -1 : Back > X ? 1 : 0);
}

inline uint64_t op_F32toF64(uint32_t X) {
  if (isNaN(X))
    return uint64_t(X & 0x80000000) << 32 | 0x7ff8000000000000 |
           uint64_t(X & 0x007fffff) << 29;
  return toBits(static_cast<double>(toFloat(X)));
}
inline uint32_t op_F64toF32(uint32_t Mode, uint64_t X) {
  if (isNaN(X))
    return static_cast<uint32_t>(X >> 32 & 0x80000000) | 0x7fc00000 |
           static_cast<uint32_t>(X >> 29 & 0x003fffff);
  double Exact = toFloat(X);
  float R = static_cast<float>(Exact);
  return correctRounding(Mode, toBits(R), R < Exact ? -1 : R > Exact ? 1 : 0);
}

inline uint64_t op_AddF64(uint32_t, uint64_t X, uint64_t Y) {
  return addFloat(X, Y);
}
inline uint64_t op_SubF64(uint32_t, uint64_t X, uint64_t Y) {
  return subFloat(X, Y);
}
inline uint64_t op_MulF64(uint32_t, uint64_t X, uint64_t Y) {
  return mulFloat(X, Y);
}
inline uint64_t op_DivF64(uint32_t, uint64_t X, uint64_t Y) {
  return divFloat(X, Y);
}
inline uint64_t op_SqrtF64(uint32_t, uint64_t X) { return sqrtFloat(X); }
inline uint64_t op_NegF64(uint64_t X) { return X ^ Format<uint64_t>::Sign; }
inline uint64_t op_AbsF64(uint64_t X) { return X & ~Format<uint64_t>::Sign; }
inline uint32_t op_NegF32(uint32_t X) { return X ^ Format<uint32_t>::Sign; }
inline uint32_t op_CmpF64(uint64_t X, uint64_t Y) {
  if (isNaN(X) || isNaN(Y))
    return 0x45;
  return toFloat(X) < toFloat(Y) ? 1 : toFloat(X) > toFloat(Y) ? 0 : 0x40;
}
inline uint32_t op_F64toI32S(uint32_t Mode, uint64_t X) {
  return floatToInt<int32_t>(Mode, X);
}
inline uint64_t op_F64toI64S(uint32_t Mode, uint64_t X) {
  return floatToInt<int64_t>(Mode, X);
}
inline uint64_t op_I32StoF64(uint32_t X) {
  return toBits(static_cast<double>(static_cast<int32_t>(X)));
}
inline uint64_t op_I64StoF64(uint32_t Mode, uint64_t X) {
  return intToFloat<uint64_t>(Mode, static_cast<int64_t>(X));
}
inline uint64_t op_ReinterpF64asI64(uint64_t X) { return X; }
inline uint64_t op_ReinterpI64asF64(uint64_t X) { return X; }
inline uint32_t op_ReinterpF32asI32(uint32_t X) { return X; }
inline uint32_t op_ReinterpI32asF32(uint32_t X) { return X; }
inline uint64_t op_RoundF64toInt(uint32_t Mode, uint64_t X) {
  return roundFloatToInt(Mode, X);
}
inline uint32_t op_RoundF32toInt(uint32_t Mode, uint32_t X) {
  return roundFloatToInt(Mode, X);
}

// VEX calls software routines here. For F32, a NaN of the third operand comes
// first. For F64, it multiplies and adds with two roundings if an operand is
// special, or if the product is certain to overflow or so small that it can
// only affect the sign of a zero.
inline uint32_t op_MAddF32(uint32_t, uint32_t X, uint32_t Y, uint32_t Z) {
  if (isNaN(Z))
    return chooseNaN(Z, Z);
  float R = std::fma(toFloat(X), toFloat(Y), toFloat(Z));
  return R == R ? toBits(R) : chooseNaN(X, Y);
}
inline uint64_t op_MAddF64(uint32_t, uint64_t X, uint64_t Y, uint64_t Z) {
  auto Exponent = [](uint64_t Bits) { return int(Bits >> 52 & 0x7ff); };
  int XE = Exponent(X), YE = Exponent(Y), ZE = Exponent(Z);
  if (ZE == 0x7ff && XE != 0x7ff && YE != 0x7ff)
    return isNaN(Z) ? chooseNaN(Z, Z) : Z;
  if (XE == 0x7ff || YE == 0x7ff || ZE == 0x7ff || XE + YE > 0x7ff + 1023 ||
      XE + YE < 1023 - 53 - 2)
    return addFloat(mulFloat(X, Y), Z);
  return toBits(std::fma(toFloat(X), toFloat(Y), toFloat(Z)));
}

// Whole vectors, and (0x) the lowest lane with the other lanes of the first
// operand.
#define CH_FLOAT_LANES(NAME, V, BITS, FUNCTION)                                \
  inline V op_##NAME(V X, V Y) {                                               \
    return mapLanes<BITS>(X, Y,                                                \
                          [](BITS A, BITS B) { return FUNCTION(A, B); });      \
  }
#define CH_FLOAT_LANES_ROUNDED(NAME, V, BITS, FUNCTION)                        \
  inline V op_##NAME(uint32_t, V X, V Y) {                                     \
    return mapLanes<BITS>(X, Y,                                                \
                          [](BITS A, BITS B) { return FUNCTION(A, B); });      \
  }
#define CH_FLOAT_LOWEST(NAME, BITS, FUNCTION)                                  \
  inline V128 op_##NAME(V128 X, V128 Y) {                                      \
    Lanes<BITS, V128> A(X), B(Y);                                              \
    A.L[0] = FUNCTION(A.L[0], B.L[0]);                                         \
    return A.value();                                                          \
  }
#define CH_FLOAT_ROUNDED(NAME, FUNCTION)                                       \
  CH_FLOAT_LANES_ROUNDED(NAME##32Fx4, V128, uint32_t, FUNCTION)                \
  CH_FLOAT_LANES_ROUNDED(NAME##64Fx2, V128, uint64_t, FUNCTION)                \
  CH_FLOAT_LANES_ROUNDED(NAME##32Fx8, V256, uint32_t, FUNCTION)                \
  CH_FLOAT_LANES_ROUNDED(NAME##64Fx4, V256, uint64_t, FUNCTION)                \
  CH_FLOAT_LOWEST(NAME##32F0x4, uint32_t, FUNCTION)                            \
  CH_FLOAT_LOWEST(NAME##64F0x2, uint64_t, FUNCTION)
#define CH_FLOAT_PLAIN(NAME, FUNCTION)                                         \
  CH_FLOAT_LANES(NAME##32Fx4, V128, uint32_t, FUNCTION)                        \
  CH_FLOAT_LANES(NAME##64Fx2, V128, uint64_t, FUNCTION)                        \
  CH_FLOAT_LANES(NAME##32Fx8, V256, uint32_t, FUNCTION)                        \
  CH_FLOAT_LANES(NAME##64Fx4, V256, uint64_t, FUNCTION)                        \
  CH_FLOAT_LOWEST(NAME##32F0x4, uint32_t, FUNCTION)                            \
  CH_FLOAT_LOWEST(NAME##64F0x2, uint64_t, FUNCTION)
CH_FLOAT_ROUNDED(Add, addFloat)
CH_FLOAT_ROUNDED(Sub, subFloat)
CH_FLOAT_ROUNDED(Mul, mulFloat)
CH_FLOAT_ROUNDED(Div, divFloat)
CH_FLOAT_PLAIN(Max, maxFloat)
CH_FLOAT_PLAIN(Min, minFloat)
CH_FLOAT_PLAIN(CmpEQ, cmpEQFloat)
CH_FLOAT_PLAIN(CmpLT, cmpLTFloat)
CH_FLOAT_PLAIN(CmpLE, cmpLEFloat)
CH_FLOAT_PLAIN(CmpUN, cmpUNFloat)
#undef CH_FLOAT_PLAIN
#undef CH_FLOAT_ROUNDED
#undef CH_FLOAT_LOWEST
#undef CH_FLOAT_LANES_ROUNDED
#undef CH_FLOAT_LANES

template <class Bits, class V> inline V sqrtLanes(V X) {
  return mapLanes<Bits>(X, [](Bits A) { return sqrtFloat(A); });
}
inline V128 op_Sqrt32Fx4(uint32_t, V128 X) { return sqrtLanes<uint32_t>(X); }
inline V128 op_Sqrt64Fx2(uint32_t, V128 X) { return sqrtLanes<uint64_t>(X); }
inline V256 op_Sqrt32Fx8(V256 X) { return sqrtLanes<uint32_t>(X); }
inline V256 op_Sqrt64Fx4(V256 X) { return sqrtLanes<uint64_t>(X); }
inline V128 op_Sqrt32F0x4(V128 X) {
  Lanes<uint32_t, V128> A(X);
  A.L[0] = sqrtFloat(A.L[0]);
  return A.value();
}
inline V128 op_Sqrt64F0x2(V128 X) {
  Lanes<uint64_t, V128> A(X);
  A.L[0] = sqrtFloat(A.L[0]);
  return A.value();
}

template <class V> inline V intsToFloats(uint32_t Mode, V X) {
  return mapLanes<uint32_t>(X, [Mode](uint32_t A) {
    return intToFloat<uint32_t>(Mode, static_cast<int32_t>(A));
  });
}
template <class V> inline V floatsToInts(uint32_t Mode, V X) {
  return mapLanes<uint32_t>(
      X, [Mode](uint32_t A) { return floatToInt<int32_t>(Mode, A); });
}
inline V128 op_I32StoF32x4(uint32_t Mode, V128 X) {
  return intsToFloats(Mode, X);
}
inline V256 op_I32StoF32x8(uint32_t Mode, V256 X) {
  return intsToFloats(Mode, X);
}
inline V128 op_F32toI32Sx4(uint32_t Mode, V128 X) {
  return floatsToInts(Mode, X);
}
inline V256 op_F32toI32Sx8(uint32_t Mode, V256 X) {
  return floatsToInts(Mode, X);
}

inline uint32_t halfToFloat(uint16_t X) {
  uint32_t Sign = uint32_t(X & 0x8000) << 16, Exponent = X >> 10 & 31,
           Fraction = X & 0x3ff;
  if (Exponent == 31)
    return Sign | 0x7f800000 | Fraction << 13 | (Fraction ? 0x00400000 : 0);
  if (Exponent == 0)
    return Sign | toBits(static_cast<float>(Fraction) * 0x1p-24f);
  return Sign | (Exponent + 112) << 23 | Fraction << 13;
}

inline uint16_t floatToHalf(uint32_t Mode, uint32_t X) {
  uint16_t Sign = static_cast<uint16_t>(X >> 16 & 0x8000);
  if (isNaN(X))
    return static_cast<uint16_t>(Sign | 0x7e00 | (X >> 13 & 0x1ff));
  int Exponent = static_cast<int>(X >> 23 & 255) - 127;
  uint64_t Fraction = X & 0x007fffff;
  if (Exponent == 128)
    return Sign | 0x7c00;
  if (Exponent == -127)
    Exponent = -126;
  else
    Fraction |= 0x00800000;
  // Units of the result's last place: 2^(Exponent - 10), at least 2^-24.
  int Place = std::max(Exponent, -14) - 10;
  int Shift = std::min(Place - (Exponent - 23), 63);
  uint64_t Kept = Fraction >> Shift, Lost = Fraction - (Kept << Shift),
           Half = uint64_t(1) << (Shift - 1);
  bool Upwards = false;
  switch (Mode & 3) {
  case Nearest:
    Upwards = Lost > Half || (Lost == Half && (Kept & 1));
    break;
  case Down:
    Upwards = Lost && Sign;
    break;
  case Up:
    Upwards = Lost && !Sign;
    break;
  }
  Kept += Upwards;
  // Kept carries the implicit bit, which makes the biased exponent one more;
  // rounding up to the next power of two carries into it as it should.
  uint64_t Result = Kept + (uint64_t(std::max(Exponent, -14) + 14) << 10);
  if (Exponent > 15 || Result >= 0x7c00) {
    bool ToInfinity = (Mode & 3) == Nearest || ((Mode & 3) == Down && Sign) ||
                      ((Mode & 3) == Up && !Sign);
    Result = ToInfinity ? 0x7c00 : 0x7bff;
  }
  return static_cast<uint16_t>(Sign | Result);
}
template <class To, class From> inline To floatsToHalves(uint32_t M, From X) {
  Lanes<uint32_t, From> A(X);
  Lanes<uint16_t, To> R;
  for (unsigned I = 0; I < A.Count; ++I)
    R.L[I] = floatToHalf(M, A.L[I]);
  return R.value();
}
template <class To, class From> inline To halvesToFloats(From X) {
  Lanes<uint16_t, From> A(X);
  Lanes<uint32_t, To> R;
  for (unsigned I = 0; I < A.Count; ++I)
    R.L[I] = halfToFloat(A.L[I]);
  return R.value();
}
inline uint64_t op_F32toF16x4(uint32_t Mode, V128 X) {
  return floatsToHalves<uint64_t>(Mode, X);
}
inline V128 op_F32toF16x8(uint32_t Mode, V256 X) {
  return floatsToHalves<V128>(Mode, X);
}
inline V128 op_F16toF32x4(uint64_t X) { return halvesToFloats<V128>(X); }
inline V256 op_F16toF32x8(V128 X) { return halvesToFloats<V256>(X); }

} // namespace chronicle::operations

#endif
