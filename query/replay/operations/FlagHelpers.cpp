// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Helpers that compute rflags from the flags thunk. The guest state holds the
/// flags unevaluated: an operation (CC_OP), its operands or result (CC_DEP1,
/// CC_DEP2), and for some operations the flags before (CC_NDEP). VEX numbers
/// the operations:
///
///   0      copy: the flags are CC_DEP1
///   1..52  four widths (8, 16, 32, 64 bits) each of
///          add, sub, adc, sbb, logic, inc, dec, shl, shr, rol, ror, umul, smul
///   53..64 two widths (32, 64 bits) each of
///          andn, blsi, blsmsk, blsr, adcx, adox
///
/// For adc, sbb, adcx and adox CC_DEP2 is the right operand xor the old carry.
/// For shl and shr CC_DEP2 is the value shifted by one bit less.

#include "query/replay/operations/Helpers.h"
#include <bit>
#include <type_traits>

namespace chronicle::operations {
namespace {

enum Flag : uint64_t {
  Carry = 1 << 0,
  Parity = 1 << 2,
  Adjust = 1 << 4,
  Zero = 1 << 6,
  Sign = 1 << 7,
  Overflow = 1 << 11,
};
constexpr uint64_t AllFlags = Carry | Parity | Adjust | Zero | Sign | Overflow;

enum Family {
  Add,
  Sub,
  Adc,
  Sbb,
  Logic,
  Inc,
  Dec,
  Shl,
  Shr,
  Rol,
  Ror,
  Umul,
  Smul,
};
enum NewFamily { Andn, Blsi, Blsmsk, Blsr, Adcx, Adox };

template <class T> constexpr unsigned Width = 8 * sizeof(T);

template <class T> uint64_t topBit(T Value) { return Value >> (Width<T> - 1); }

template <class T> uint64_t resultFlags(T Result) {
  uint64_t Flags = Result == 0 ? uint64_t(Zero) : 0;
  if (topBit(Result))
    Flags |= Sign;
  if (!(std::popcount(static_cast<uint8_t>(Result)) & 1))
    Flags |= Parity;
  return Flags;
}

uint64_t flagIf(bool Condition, uint64_t Value) {
  return Condition ? Value : 0;
}

template <class T>
uint64_t flagsOf(unsigned Operation, uint64_t Dep1, uint64_t Dep2,
                 uint64_t Ndep) {
  const T L = static_cast<T>(Dep1), R = static_cast<T>(Dep2);
  constexpr T Top = T(1) << (Width<T> - 1);
  // Carry into bit 4, and overflow, of L + R = Result or L - R = Result.
  auto AdjustOf = [](T A, T B, T Result) {
    return uint64_t((A ^ B ^ Result) & Adjust);
  };
  auto AddOverflow = [](T A, T B, T Result) {
    return flagIf((~(A ^ B) & (A ^ Result)) & Top, Overflow);
  };
  auto SubOverflow = [](T A, T B, T Result) {
    return flagIf(((A ^ B) & (A ^ Result)) & Top, Overflow);
  };
  switch (Operation) {
  case Add: {
    T Result = static_cast<T>(L + R);
    return resultFlags(Result) | flagIf(Result < L, Carry) |
           AdjustOf(L, R, Result) | AddOverflow(L, R, Result);
  }
  case Sub: {
    T Result = static_cast<T>(L - R);
    return resultFlags(Result) | flagIf(L < R, Carry) | AdjustOf(L, R, Result) |
           SubOverflow(L, R, Result);
  }
  case Adc: {
    T Old = Ndep & Carry, Right = static_cast<T>(R ^ Old);
    T Result = static_cast<T>(L + Right + Old);
    return resultFlags(Result) | flagIf(Old ? Result <= L : Result < L, Carry) |
           AdjustOf(L, Right, Result) | AddOverflow(L, Right, Result);
  }
  case Sbb: {
    T Old = Ndep & Carry, Right = static_cast<T>(R ^ Old);
    T Result = static_cast<T>(L - Right - Old);
    return resultFlags(Result) | flagIf(Old ? L <= Right : L < Right, Carry) |
           AdjustOf(L, Right, Result) | SubOverflow(L, Right, Result);
  }
  case Logic:
    return resultFlags(L);
  case Inc:
    return resultFlags(L) | (Ndep & Carry) | flagIf((L & 15) == 0, Adjust) |
           flagIf(L == Top, Overflow);
  case Dec:
    return resultFlags(L) | (Ndep & Carry) | flagIf((L & 15) == 15, Adjust) |
           flagIf(L == static_cast<T>(Top - 1), Overflow);
  case Shl:
    return resultFlags(L) | topBit(R) |
           flagIf(topBit(static_cast<T>(L ^ R)), Overflow);
  case Shr:
    return resultFlags(L) | (R & 1) |
           flagIf(topBit(static_cast<T>(L ^ R)), Overflow);
  case Rol:
    return (Ndep & ~uint64_t(Carry | Overflow)) | (L & 1) |
           flagIf(topBit(L) ^ (L & 1), Overflow);
  case Ror:
    return (Ndep & ~uint64_t(Carry | Overflow)) | topBit(L) |
           flagIf(topBit(static_cast<T>(L ^ (L << 1))), Overflow);
  case Umul:
  case Smul: {
    bool Lost;
    T Low;
    if (Operation == Umul) {
      Lost = __builtin_mul_overflow(L, R, &Low);
    } else {
      using S = std::make_signed_t<T>;
      S Product;
      Lost = __builtin_mul_overflow(static_cast<S>(L), static_cast<S>(R),
                                    &Product);
      Low = static_cast<T>(Product);
    }
    return resultFlags(Low) | flagIf(Lost, Carry | Overflow);
  }
  }
  return 0;
}

template <class T>
uint64_t newFlagsOf(unsigned Operation, uint64_t Dep1, uint64_t Dep2,
                    uint64_t Ndep) {
  const T L = static_cast<T>(Dep1), R = static_cast<T>(Dep2);
  // The processor leaves parity and adjust undefined; VEX clears them.
  auto Plain = [](T Result) { return resultFlags(Result) & ~uint64_t(Parity); };
  switch (Operation) {
  case Andn:
    return Plain(L);
  case Blsi:
    return Plain(L) | flagIf(R != 0, Carry);
  case Blsmsk:
    return (Plain(L) & ~uint64_t(Zero)) | flagIf(R == 0, Carry);
  case Blsr:
    return Plain(L) | flagIf(R == 0, Carry);
  case Adcx:
  case Adox: {
    const uint64_t Which = Operation == Adcx ? Carry : Overflow;
    T Old = (Ndep & Which) != 0, Right = static_cast<T>(R ^ Old);
    T Result = static_cast<T>(L + Right + Old);
    return (Ndep & ~Which) | flagIf(Old ? Result <= L : Result < L, Which);
  }
  }
  return 0;
}

uint64_t allFlags(uint64_t Op, uint64_t Dep1, uint64_t Dep2, uint64_t Ndep) {
  if (Op == 0)
    return Dep1 & AllFlags;
  if (Op <= 52) {
    unsigned Operation = static_cast<unsigned>(Op - 1) / 4;
    switch ((Op - 1) & 3) {
    case 0:
      return flagsOf<uint8_t>(Operation, Dep1, Dep2, Ndep);
    case 1:
      return flagsOf<uint16_t>(Operation, Dep1, Dep2, Ndep);
    case 2:
      return flagsOf<uint32_t>(Operation, Dep1, Dep2, Ndep);
    default:
      return flagsOf<uint64_t>(Operation, Dep1, Dep2, Ndep);
    }
  }
  if (Op <= 64) {
    unsigned Operation = static_cast<unsigned>(Op - 53) / 2;
    return (Op - 53) & 1 ? newFlagsOf<uint64_t>(Operation, Dep1, Dep2, Ndep)
                         : newFlagsOf<uint32_t>(Operation, Dep1, Dep2, Ndep);
  }
  // VEX makes no such thunk.
  return 0;
}

} // namespace

namespace helpers {

uint64_t amd64g_calculate_rflags_all(uint64_t Op, uint64_t Dep1, uint64_t Dep2,
                                     uint64_t Ndep, uint64_t) {
  return allFlags(Op, Dep1, Dep2, Ndep);
}

uint64_t amd64g_calculate_rflags_c(uint64_t Op, uint64_t Dep1, uint64_t Dep2,
                                   uint64_t Ndep, uint64_t) {
  return allFlags(Op, Dep1, Dep2, Ndep) & Carry;
}

uint64_t amd64g_calculate_condition(uint64_t Condition, uint64_t Op,
                                    uint64_t Dep1, uint64_t Dep2,
                                    uint64_t Ndep) {
  const uint64_t Flags = allFlags(Op, Dep1, Dep2, Ndep);
  const bool Less = bool(Flags & Sign) != bool(Flags & Overflow);
  bool Holds = false;
  switch (Condition >> 1 & 7) {
  case 0:
    Holds = Flags & Overflow;
    break;
  case 1:
    Holds = Flags & Carry;
    break;
  case 2:
    Holds = Flags & Zero;
    break;
  case 3:
    Holds = Flags & (Carry | Zero);
    break;
  case 4:
    Holds = Flags & Sign;
    break;
  case 5:
    Holds = Flags & Parity;
    break;
  case 6:
    Holds = Less;
    break;
  case 7:
    Holds = Less || (Flags & Zero);
    break;
  }
  return Holds ^ (Condition & 1);
}

} // namespace helpers
} // namespace chronicle::operations
