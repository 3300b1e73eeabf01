// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The few instructions of the processor that native code of replay programs is
/// made of, as bytes.

#ifndef CHRONICLE_QUERY_NATIVEENCODER_H
#define CHRONICLE_QUERY_NATIVEENCODER_H

#include "query/Values.h"
#include <initializer_list>

namespace chronicle {

/// The registers that the code works with, by their numbers: a call may change
/// them all. RBX points into the frame.
enum Register : uint8_t { RAX, RCX, RDX, RBX, RSI = 6, RDI };

/// Arithmetic, shifts and conditions, by their numbers.
enum class Arithmetic : uint8_t { Add, Or, And = 4, Sub, Xor, Cmp };
enum class Shift : uint8_t { Left = 4, Right, Signed = 7 };
enum class Condition : uint8_t {
  Below = 2,
  Equal = 4,
  NotEqual,
  BelowOrEqual,
  Less = 12,
  LessOrEqual = 14
};

/// Writes instructions. Values travel from the frame to a register and back:
/// what was computed last is in RAX, too, which saves the processor reading
/// what it is just writing.
class NativeEncoder {
protected:
  explicit NativeEncoder(uint8_t *Out) : Out(Out) {}

  /// RBX points behind the frame's start, so that one byte can say where in the
  /// registers of the guest something is.
  static constexpr int32_t FrameBias = 128;

  void bytes(std::initializer_list<uint8_t> Bytes) {
    for (uint8_t Byte : Bytes)
      *Out++ = Byte;
  }
  template <class T> void number(T Value) {
    storeValue(Out, Value);
    Out += sizeof(T);
  }
  /// With a place of the frame as the second operand. Opcode: up to three
  /// bytes, the first is the lowest.
  void withPlace(uint32_t Opcode, bool Wide, unsigned Reg, uint32_t Place) {
    if ((Opcode & 0xff) == 0x66) {
      bytes({0x66});
      Opcode >>= 8;
    }
    if (Wide)
      bytes({0x48});
    for (; Opcode; Opcode >>= 8)
      bytes({static_cast<uint8_t>(Opcode)});
    const int32_t Displacement = static_cast<int32_t>(Place) - FrameBias;
    const bool Short = Displacement == static_cast<int8_t>(Displacement);
    bytes({static_cast<uint8_t>((Short ? 0x40 : 0x80) | Reg << 3 | RBX)});
    if (Short)
      number(static_cast<int8_t>(Displacement));
    else
      number(Displacement);
  }
  /// With a register as the second operand.
  void withRegister(uint8_t Opcode, bool Wide, unsigned Reg, unsigned Other) {
    if (Wide)
      bytes({0x48});
    bytes({Opcode, static_cast<uint8_t>(0xc0 | Reg << 3 | Other)});
  }
  /// The number that extends by its sign to 8 bytes.
  static bool fits(uint64_t Value) {
    return static_cast<int64_t>(Value) == static_cast<int32_t>(Value);
  }
  void constant(Register To, uint64_t Value) {
    if (Value <= UINT32_MAX) {
      bytes({static_cast<uint8_t>(0xb8 | To)});
      number(static_cast<uint32_t>(Value));
    } else {
      bytes({0x48, static_cast<uint8_t>(0xb8 | To)});
      number(Value);
    }
  }

  /// Extends the lowest Size bytes of RAX by zeros.
  void zeroExtend(unsigned Size) {
    if (Size == 1)
      bytes({0x0f, 0xb6, 0xc0});
    else if (Size == 2)
      bytes({0x0f, 0xb7, 0xc0});
    else if (Size == 4)
      bytes({0x89, 0xc0});
  }
  /// Extends by zeros; leaves the flags alone.
  void load(Register To, uint32_t Place, unsigned Size) {
    const uint32_t Opcode = Size == 1 ? 0xb60f : Size == 2 ? 0xb70f : 0x8b;
    if (Place != Held)
      withPlace(Opcode, Size == 8, To, Place);
    else if (To == RAX)
      zeroExtend(Size);
    else if (Size >= 4)
      withRegister(0x8b, Size == 8, To, RAX);
    else
      bytes({0x0f, static_cast<uint8_t>(Opcode >> 8),
             static_cast<uint8_t>(0xc0 | To << 3)});
    if (To == RAX)
      spoil();
  }
  void store(uint32_t Place, Register From, unsigned Size) {
    wrote(Place, Size);
    withPlace(Size == 1   ? 0x88
              : Size == 2 ? 0x8966
                          : 0x89,
              Size == 8, From, Place);
  }
  /// Changes RCX if the value is a long one.
  void storeConstant(uint32_t Place, uint64_t Value, unsigned Size) {
    if (Size == 8 && !fits(Value)) {
      constant(RCX, Value);
      return store(Place, RCX, 8);
    }
    wrote(Place, Size);
    withPlace(Size == 1   ? 0xc6
              : Size == 2 ? 0xc766
                          : 0xc7,
              Size == 8, 0, Place);
    if (Size == 1)
      number(static_cast<uint8_t>(Value));
    else if (Size == 2)
      number(static_cast<uint16_t>(Value));
    else
      number(static_cast<uint32_t>(Value));
  }
  /// 16 bytes, to or from XMM register N.
  void loadVector(unsigned N, uint32_t Place) {
    withPlace(0x100f, false, N, Place);
  }
  void storeVector(uint32_t Place, unsigned N) {
    wrote(Place, 16);
    withPlace(0x110f, false, N, Place);
  }
  /// RAX, as the 8 bytes of a result.
  bool result(uint32_t Place) {
    store(Place, RAX, 8);
    Held = Place;
    return true;
  }
  /// A result of Size bytes, what is above them in RAX being of no use.
  bool result(uint32_t Place, unsigned Size) {
    if (Size < 4)
      zeroExtend(Size);
    return result(Place);
  }
  bool isHeld(uint32_t Place) const { return Place == Held; }
  /// RAX is something else from now on.
  void spoil() { Held = None; }
  void wrote(uint32_t Place, unsigned Size) {
    if (Held != None && Place < Held + 8 && Held < Place + Size)
      Held = None;
  }

  uint8_t *Out;

private:
  static constexpr uint32_t None = ~0u;
  uint32_t Held = None; ///< the place whose 8 bytes RAX has, too
};

} // namespace chronicle

#endif
