// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The scalar integer operations of ReplayOps.def: op_<Name>. Each gives what
/// the code of VEX's amd64 back end gives.

#ifndef CHRONICLE_QUERY_REPLAY_OPERATIONS_INTEGEROPERATIONS_H
#define CHRONICLE_QUERY_REPLAY_OPERATIONS_INTEGEROPERATIONS_H

#include "query/replay/operations/ValueTypes.h"
#include <bit>

namespace chronicle::operations {

#define CH_BINARY(NAME, R, A, B, ...)                                          \
  inline R op_##NAME(A X, B Y) { return static_cast<R>(__VA_ARGS__); }
#define CH_UNARY(NAME, R, A, ...)                                              \
  inline R op_##NAME(A X) { return static_cast<R>(__VA_ARGS__); }

#define CH_SAME_WIDTH(NAME, ...)                                               \
  CH_BINARY(NAME##8, uint8_t, uint8_t, uint8_t, __VA_ARGS__)                   \
  CH_BINARY(NAME##16, uint16_t, uint16_t, uint16_t, __VA_ARGS__)               \
  CH_BINARY(NAME##32, uint32_t, uint32_t, uint32_t, __VA_ARGS__)               \
  CH_BINARY(NAME##64, uint64_t, uint64_t, uint64_t, __VA_ARGS__)
CH_SAME_WIDTH(Add, X + Y)
CH_SAME_WIDTH(Sub, X - Y)
CH_SAME_WIDTH(And, X &Y)
CH_SAME_WIDTH(Or, X | Y)
CH_SAME_WIDTH(Xor, X ^ Y)
// `X * Y` alone would multiply uint16_t as int, which may overflow.
CH_SAME_WIDTH(Mul, uint64_t(X) * Y)
#undef CH_SAME_WIDTH

// The back end shifts registers of 32 or 64 bits by %cl: amounts count modulo
// that width, and values of 8 and 16 bits can be shifted out completely.
CH_BINARY(Shl8, uint8_t, uint8_t, uint8_t, uint64_t(X) << (Y & 31))
CH_BINARY(Shl16, uint16_t, uint16_t, uint8_t, uint64_t(X) << (Y & 31))
CH_BINARY(Shl32, uint32_t, uint32_t, uint8_t, uint64_t(X) << (Y & 31))
CH_BINARY(Shl64, uint64_t, uint64_t, uint8_t, X << (Y & 63))
CH_BINARY(Shr8, uint8_t, uint8_t, uint8_t, uint64_t(X) >> (Y & 31))
CH_BINARY(Shr16, uint16_t, uint16_t, uint8_t, uint64_t(X) >> (Y & 31))
CH_BINARY(Shr32, uint32_t, uint32_t, uint8_t, uint64_t(X) >> (Y & 31))
CH_BINARY(Shr64, uint64_t, uint64_t, uint8_t, X >> (Y & 63))
CH_BINARY(Sar8, uint8_t, uint8_t, uint8_t, int64_t(int8_t(X)) >> (Y & 31))
CH_BINARY(Sar16, uint16_t, uint16_t, uint8_t, int64_t(int16_t(X)) >> (Y & 31))
CH_BINARY(Sar32, uint32_t, uint32_t, uint8_t, int64_t(int32_t(X)) >> (Y & 31))
CH_BINARY(Sar64, uint64_t, uint64_t, uint8_t, int64_t(X) >> (Y & 63))

#define CH_COMPARE(NAME, ...)                                                  \
  CH_BINARY(NAME##8, uint8_t, uint8_t, uint8_t, __VA_ARGS__)                   \
  CH_BINARY(NAME##16, uint8_t, uint16_t, uint16_t, __VA_ARGS__)                \
  CH_BINARY(NAME##32, uint8_t, uint32_t, uint32_t, __VA_ARGS__)                \
  CH_BINARY(NAME##64, uint8_t, uint64_t, uint64_t, __VA_ARGS__)
CH_COMPARE(CmpEQ, X == Y)
CH_COMPARE(CmpNE, X != Y)
CH_COMPARE(CasCmpEQ, X == Y)
CH_COMPARE(CasCmpNE, X != Y)
CH_COMPARE(ExpCmpNE, X != Y)
#undef CH_COMPARE
CH_BINARY(CmpLT32S, uint8_t, uint32_t, uint32_t, int32_t(X) < int32_t(Y))
CH_BINARY(CmpLT64S, uint8_t, uint64_t, uint64_t, int64_t(X) < int64_t(Y))
CH_BINARY(CmpLE32S, uint8_t, uint32_t, uint32_t, int32_t(X) <= int32_t(Y))
CH_BINARY(CmpLE64S, uint8_t, uint64_t, uint64_t, int64_t(X) <= int64_t(Y))
CH_BINARY(CmpLT32U, uint8_t, uint32_t, uint32_t, X < Y)
CH_BINARY(CmpLT64U, uint8_t, uint64_t, uint64_t, X < Y)
CH_BINARY(CmpLE32U, uint8_t, uint32_t, uint32_t, X <= Y)
CH_BINARY(CmpLE64U, uint8_t, uint64_t, uint64_t, X <= Y)
CH_BINARY(Max32U, uint32_t, uint32_t, uint32_t, X > Y ? X : Y)

CH_UNARY(Not8, uint8_t, uint8_t, ~X)
CH_UNARY(Not16, uint16_t, uint16_t, ~X)
CH_UNARY(Not32, uint32_t, uint32_t, ~X)
CH_UNARY(Not64, uint64_t, uint64_t, ~X)
CH_UNARY(CmpNEZ8, uint8_t, uint8_t, X != 0)
CH_UNARY(CmpNEZ16, uint8_t, uint16_t, X != 0)
CH_UNARY(CmpNEZ32, uint8_t, uint32_t, X != 0)
CH_UNARY(CmpNEZ64, uint8_t, uint64_t, X != 0)
CH_UNARY(CmpwNEZ32, uint32_t, uint32_t, X ? ~0u : 0)
CH_UNARY(CmpwNEZ64, uint64_t, uint64_t, X ? ~uint64_t(0) : 0)
CH_UNARY(Left8, uint8_t, uint8_t, X | -X)
CH_UNARY(Left16, uint16_t, uint16_t, X | -X)
CH_UNARY(Left32, uint32_t, uint32_t, X | -X)
CH_UNARY(Left64, uint64_t, uint64_t, X | -X)
// VEX leaves the result for 0 undefined, and its front end never uses it.
CH_UNARY(Clz64, uint64_t, uint64_t, std::countl_zero(X))
CH_UNARY(Ctz64, uint64_t, uint64_t, std::countr_zero(X))

CH_BINARY(MullS8, uint16_t, uint8_t, uint8_t, int8_t(X) * int8_t(Y))
CH_BINARY(MullS16, uint32_t, uint16_t, uint16_t, int16_t(X) * int16_t(Y))
CH_BINARY(MullS32, uint64_t, uint32_t, uint32_t,
          int64_t(int32_t(X)) * int32_t(Y))
CH_BINARY(MullS64, UInt128, uint64_t, uint64_t, Int128(int64_t(X)) * int64_t(Y))
CH_BINARY(MullU8, uint16_t, uint8_t, uint8_t, unsigned(X) * Y)
CH_BINARY(MullU16, uint32_t, uint16_t, uint16_t, uint32_t(X) * Y)
CH_BINARY(MullU32, uint64_t, uint32_t, uint32_t, uint64_t(X) * Y)
CH_BINARY(MullU64, UInt128, uint64_t, uint64_t, UInt128(X) * Y)

// A division that would trap never completes in a recorded run, but it must not
// kill the replayer either.
inline uint64_t op_DivModU64to32(uint64_t X, uint32_t Y) {
  if (Y == 0)
    return 0;
  return (X / Y & 0xffffffff) | (X % Y) << 32;
}
inline uint64_t op_DivModS64to32(uint64_t X, uint32_t Y) {
  int64_t L = static_cast<int64_t>(X), R = static_cast<int32_t>(Y);
  if (R == 0)
    return 0;
  if (R == -1)
    return -X & 0xffffffff;
  return (uint64_t(L / R) & 0xffffffff) | uint64_t(L % R) << 32;
}
inline UInt128 op_DivModU128to64(UInt128 X, uint64_t Y) {
  if (Y == 0)
    return 0;
  if (X >> 64 == 0) {
    uint64_t L = static_cast<uint64_t>(X);
    return UInt128(L % Y) << 64 | L / Y;
  }
  return (X % Y) << 64 | uint64_t(X / Y);
}
inline UInt128 op_DivModS128to64(UInt128 X, uint64_t Y) {
  int64_t R = static_cast<int64_t>(Y);
  if (R == 0)
    return 0;
  if (R == -1)
    return uint64_t(-X);
  Int128 L = static_cast<Int128>(X);
  return UInt128(uint64_t(L % R)) << 64 | uint64_t(L / R);
}

CH_UNARY(8Uto16, uint16_t, uint8_t, X)
CH_UNARY(8Uto32, uint32_t, uint8_t, X)
CH_UNARY(8Uto64, uint64_t, uint8_t, X)
CH_UNARY(16Uto32, uint32_t, uint16_t, X)
CH_UNARY(16Uto64, uint64_t, uint16_t, X)
CH_UNARY(32Uto64, uint64_t, uint32_t, X)
CH_UNARY(8Sto16, uint16_t, uint8_t, int8_t(X))
CH_UNARY(8Sto32, uint32_t, uint8_t, int8_t(X))
CH_UNARY(8Sto64, uint64_t, uint8_t, int8_t(X))
CH_UNARY(16Sto32, uint32_t, uint16_t, int16_t(X))
CH_UNARY(16Sto64, uint64_t, uint16_t, int16_t(X))
CH_UNARY(32Sto64, uint64_t, uint32_t, int32_t(X))
CH_UNARY(64to8, uint8_t, uint64_t, X)
CH_UNARY(32to8, uint8_t, uint32_t, X)
CH_UNARY(64to16, uint16_t, uint64_t, X)
CH_UNARY(16to8, uint8_t, uint16_t, X)
CH_UNARY(16HIto8, uint8_t, uint16_t, X >> 8)
CH_UNARY(32to16, uint16_t, uint32_t, X)
CH_UNARY(32HIto16, uint16_t, uint32_t, X >> 16)
CH_UNARY(64to32, uint32_t, uint64_t, X)
CH_UNARY(64HIto32, uint32_t, uint64_t, X >> 32)
CH_UNARY(128to64, uint64_t, UInt128, X)
CH_UNARY(128HIto64, uint64_t, UInt128, X >> 64)
CH_BINARY(8HLto16, uint16_t, uint8_t, uint8_t, X << 8 | Y)
CH_BINARY(16HLto32, uint32_t, uint16_t, uint16_t, uint32_t(X) << 16 | Y)
CH_BINARY(32HLto64, uint64_t, uint32_t, uint32_t, uint64_t(X) << 32 | Y)
CH_BINARY(64HLto128, UInt128, uint64_t, uint64_t, UInt128(X) << 64 | Y)
CH_UNARY(Not1, uint8_t, uint8_t, X ^ 1)
CH_BINARY(And1, uint8_t, uint8_t, uint8_t, X &Y)
CH_BINARY(Or1, uint8_t, uint8_t, uint8_t, X | Y)
CH_UNARY(32to1, uint8_t, uint32_t, X & 1)
CH_UNARY(64to1, uint8_t, uint64_t, X & 1)
CH_UNARY(1Uto8, uint8_t, uint8_t, X)
CH_UNARY(1Uto32, uint32_t, uint8_t, X)
CH_UNARY(1Uto64, uint64_t, uint8_t, X)
CH_UNARY(1Sto8, uint8_t, uint8_t, -X)
CH_UNARY(1Sto16, uint16_t, uint8_t, -X)
CH_UNARY(1Sto32, uint32_t, uint8_t, -int32_t(X))
CH_UNARY(1Sto64, uint64_t, uint8_t, -int64_t(X))

} // namespace chronicle::operations

#endif
