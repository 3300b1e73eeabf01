// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/operations/Helpers.h"
#include "query/replay/operations/VectorOperations.h"
#include <bit>
#include <iterator>

namespace chronicle::operations {

namespace {

/// Rotates Value of Bytes bytes together with the carry, one bit at a time: the
/// amount is at most 63 and the instructions are rare.
struct CarryRotation {
  uint64_t Value, Carry, Overflow;
  unsigned Bits;

  uint64_t top() const { return Value >> (Bits - 1) & 1; }
  uint64_t mask() const {
    return Bits == 64 ? ~uint64_t(0) : (uint64_t(1) << Bits) - 1;
  }
  void right() {
    uint64_t Out = Value & 1;
    Value = (Value & mask()) >> 1 | Carry << (Bits - 1);
    Carry = Out;
  }
  void left() {
    uint64_t Out = top();
    Value = (Value << 1 | Carry) & mask();
    Carry = Out;
  }
};

constexpr uint64_t CarryFlag = 1, OverflowFlag = 1 << 11;

/// The size comes as bytes; a negative one asks for the flags, not the value.
struct RotationRequest {
  unsigned Bits, Amount;
  bool WantsFlags;
  RotationRequest(uint64_t Amount, uint64_t Size)
      : WantsFlags(static_cast<int64_t>(Size) < 0) {
    uint64_t Bytes = WantsFlags ? 0 - Size : Size;
    Bits = static_cast<unsigned>(Bytes * 8 & 127);
    if (Bits == 0 || Bits > 64)
      Bits = 64;
    this->Amount = Amount & (Bits == 64 ? 63 : 31);
    if (Bits == 8)
      this->Amount %= 9;
    if (Bits == 16)
      this->Amount %= 17;
  }
};

uint64_t rotationFlags(uint64_t Flags, uint64_t Carry, uint64_t Overflow) {
  Flags &= ~(CarryFlag | OverflowFlag);
  return Flags | Carry | Overflow << 11;
}

uint32_t crc32c(uint32_t Crc, uint64_t Data, unsigned Bytes) {
  for (unsigned I = 0; I < Bytes; ++I) {
    Crc ^= static_cast<uint8_t>(Data >> 8 * I);
    for (unsigned Bit = 0; Bit < 8; ++Bit)
      Crc = Crc >> 1 ^ (Crc & 1 ? 0x82f63b78 : 0);
  }
  return Crc;
}

// What ldmxcsr and fldcw ask for that VEX cannot do: its notes on emulation.
enum EmulationNote : uint64_t {
  NoteNone = 0,
  NoteX87Exceptions = 1,
  NoteX87Precision = 2,
  NoteSseExceptions = 3,
  NoteFlushToZero = 4,
  NoteDenormalsAreZero = 5,
};

} // namespace

namespace helpers {

uint64_t amd64g_calculate_RCR(uint64_t Value, uint64_t Amount, uint64_t Flags,
                              uint64_t Size, uint64_t) {
  RotationRequest Request(Amount, Size);
  CarryRotation R{Value, Flags & CarryFlag, 0, Request.Bits};
  uint64_t Overflow = R.top() ^ R.Carry;
  for (unsigned I = 0; I < Request.Amount; ++I)
    R.right();
  return Request.WantsFlags ? rotationFlags(Flags, R.Carry, Overflow) : R.Value;
}

uint64_t amd64g_calculate_RCL(uint64_t Value, uint64_t Amount, uint64_t Flags,
                              uint64_t Size, uint64_t) {
  RotationRequest Request(Amount, Size);
  CarryRotation R{Value, Flags & CarryFlag, 0, Request.Bits};
  for (unsigned I = 0; I < Request.Amount; ++I)
    R.left();
  uint64_t Overflow = R.top() ^ R.Carry;
  return Request.WantsFlags ? rotationFlags(Flags, R.Carry, Overflow) : R.Value;
}

uint64_t amd64g_calculate_FXAM(uint64_t Tag, uint64_t Bits, uint64_t, uint64_t,
                               uint64_t) {
  constexpr uint64_t C0 = 1 << 8, C1 = 1 << 9, C2 = 1 << 10, C3 = 1 << 14;
  const uint64_t Sign = Bits >> 63 ? C1 : 0;
  if (Tag == 0)
    return C3 | Sign | C0;
  const uint64_t Magnitude = Bits << 1;
  if (Magnitude == 0)
    return C3 | Sign;
  if (Bits << 1 >> 53 == 0)
    return C3 | C2 | Sign;
  if (Bits << 1 >> 53 == 0x7ff)
    return Bits << 12 == 0 ? C2 | Sign | C0 : Sign | C0;
  return C2 | Sign;
}

uint64_t amd64g_create_mxcsr(uint64_t Rounding, uint64_t, uint64_t, uint64_t,
                             uint64_t) {
  return 0x1f80 | (Rounding & 3) << 13;
}

uint64_t amd64g_create_fpucw(uint64_t Rounding, uint64_t, uint64_t, uint64_t,
                             uint64_t) {
  return 0x037f | (Rounding & 3) << 10;
}

uint64_t amd64g_check_ldmxcsr(uint64_t Mxcsr, uint64_t, uint64_t, uint64_t,
                              uint64_t) {
  uint64_t Note = NoteNone;
  if ((Mxcsr & 0x1f80) != 0x1f80)
    Note = NoteSseExceptions;
  else if (Mxcsr & 0x8000)
    Note = NoteFlushToZero;
  else if (Mxcsr & 0x40)
    Note = NoteDenormalsAreZero;
  return Note << 32 | (Mxcsr >> 13 & 3);
}

uint64_t amd64g_check_fldcw(uint64_t ControlWord, uint64_t, uint64_t, uint64_t,
                            uint64_t) {
  uint64_t Note = NoteNone;
  if ((ControlWord & 0x3f) != 0x3f)
    Note = NoteX87Exceptions;
  else if ((ControlWord >> 8 & 3) != 3)
    Note = NoteX87Precision;
  return Note << 32 | (ControlWord >> 10 & 3);
}

uint64_t amd64g_calculate_pclmul(uint64_t X, uint64_t Y, uint64_t High,
                                 uint64_t, uint64_t) {
  UInt128 Product = 0;
  for (unsigned I = 0; I < 64; ++I)
    if (Y >> I & 1)
      Product ^= UInt128(X) << I;
  return static_cast<uint64_t>(High ? Product >> 64 : Product);
}

uint64_t amd64g_calc_crc32b(uint64_t Crc, uint64_t Data, uint64_t, uint64_t,
                            uint64_t) {
  return crc32c(static_cast<uint32_t>(Crc), Data, 1);
}
uint64_t amd64g_calc_crc32w(uint64_t Crc, uint64_t Data, uint64_t, uint64_t,
                            uint64_t) {
  return crc32c(static_cast<uint32_t>(Crc), Data, 2);
}
uint64_t amd64g_calc_crc32l(uint64_t Crc, uint64_t Data, uint64_t, uint64_t,
                            uint64_t) {
  return crc32c(static_cast<uint32_t>(Crc), Data, 4);
}
uint64_t amd64g_calc_crc32q(uint64_t Crc, uint64_t Data, uint64_t, uint64_t,
                            uint64_t) {
  return crc32c(static_cast<uint32_t>(Crc), Data, 8);
}

uint64_t amd64g_calculate_mmx_pmaddwd(uint64_t X, uint64_t Y, uint64_t,
                                      uint64_t, uint64_t) {
  operations::Lanes<int16_t, uint64_t> A(X), B(Y);
  operations::Lanes<uint32_t, uint64_t> R;
  for (unsigned I = 0; I < 2; ++I)
    R.L[I] = static_cast<uint32_t>(A.L[2 * I] * B.L[2 * I]) +
             static_cast<uint32_t>(A.L[2 * I + 1] * B.L[2 * I + 1]);
  return R.value();
}

uint64_t amd64g_calculate_mmx_psadbw(uint64_t X, uint64_t Y, uint64_t, uint64_t,
                                     uint64_t) {
  operations::Lanes<uint8_t, uint64_t> A(X), B(Y);
  uint64_t Sum = 0;
  for (unsigned I = 0; I < 8; ++I)
    Sum += A.L[I] > B.L[I] ? A.L[I] - B.L[I] : B.L[I] - A.L[I];
  return Sum;
}

uint64_t amd64g_calculate_sse_phminposuw(uint64_t Low, uint64_t High, uint64_t,
                                         uint64_t, uint64_t) {
  operations::Lanes<uint16_t, V128> A(V128{{Low, High}});
  unsigned Position = 0;
  for (unsigned I = 1; I < 8; ++I)
    if (A.L[I] < A.L[Position])
      Position = I;
  return uint64_t(Position) << 16 | A.L[Position];
}

/// Four sums of absolute differences: bytes of the source, chosen by two bits
/// of the control, against the destination from a start chosen by the third.
uint64_t amd64g_calc_mpsadbw(uint64_t SourceHigh, uint64_t SourceLow,
                             uint64_t DestinationHigh, uint64_t DestinationLow,
                             uint64_t Control) {
  operations::Lanes<uint8_t, V128> S(V128{{SourceLow, SourceHigh}}),
      D(V128{{DestinationLow, DestinationHigh}});
  unsigned SourceStart = (Control & 3) * 4, Start = (Control >> 2 & 1) * 4;
  // Bit 7 asks for the upper four sums.
  if (Control >> 7 & 1)
    Start += 4;
  uint64_t Result = 0;
  for (unsigned I = 0; I < 4; ++I) {
    unsigned Sum = 0;
    for (unsigned J = 0; J < 4; ++J) {
      int Difference = D.L[Start + I + J] - S.L[SourceStart + J];
      Sum += static_cast<unsigned>(Difference < 0 ? -Difference : Difference);
    }
    Result |= uint64_t(Sum & 0xffff) << 16 * I;
  }
  return Result;
}

uint64_t amd64g_calculate_pext(uint64_t Value, uint64_t Mask, uint64_t,
                               uint64_t, uint64_t) {
  uint64_t Result = 0;
  for (unsigned To = 0; Mask; Mask &= Mask - 1, ++To)
    Result |= (Value >> std::countr_zero(Mask) & 1) << To;
  return Result;
}

uint64_t amd64g_calculate_pdep(uint64_t Value, uint64_t Mask, uint64_t,
                               uint64_t, uint64_t) {
  uint64_t Result = 0;
  for (; Mask; Mask &= Mask - 1, Value >>= 1)
    Result |= (Value & 1) << std::countr_zero(Mask);
  return Result;
}

} // namespace helpers

static const Helper Table[] = {
#define CH_HELPER(Name) helpers::Name,
#include "trace-format/ReplayHelpers.def"
#undef CH_HELPER
};

Helper helper(unsigned N) { return Table[N]; }

unsigned helperArity(unsigned N) {
  static const uint8_t Arity[] = {5, 4, 4, 4, 4, 2, 1, 1, 1, 1, 3,
                                  2, 2, 2, 2, 2, 2, 2, 5, 2, 2};
  static_assert(std::size(Arity) == std::size(Table),
                "a helper without a number of arguments");
  return Arity[N];
}

} // namespace chronicle::operations
