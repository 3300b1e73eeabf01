// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes instructions of the processor that work on the frame of a replay.

#ifndef CHRONICLE_QUERY_REPLAY_NATIVE_FRAMEASSEMBLER_H
#define CHRONICLE_QUERY_REPLAY_NATIVE_FRAMEASSEMBLER_H

#include "llvm/ADT/ArrayRef.h"
#define XBYAK_NO_EXCEPTION // it keeps an error code per thread instead
#include <xbyak/xbyak.h>

namespace chronicle::native {

/// Xbyak's assembler, with operands that are in the frame of an Interpreter.
/// RBX points into the frame; every other register may change at a call.
///
/// Values travel from the frame to a register and back. The value that was
/// computed last is often needed next, so the assembler remembers the place of
/// the frame whose value RAX also holds. Reading it there saves the processor
/// from loading what it is still storing.
///
/// Including this header makes a file compile about 2 s longer.
class FrameAssembler : protected Xbyak::CodeGenerator {
protected:
  explicit FrameAssembler(llvm::MutableArrayRef<uint8_t> Room)
      : CodeGenerator(Room.size(), Room.data()), FrameStart(rbx - FrameBias) {}

  /// RBX points this far behind the start of the frame, so that a displacement
  /// of one byte reaches all general registers of the guest.
  static constexpr int32_t FrameBias = 128;

  /// Size bytes of the frame as an operand.
  Xbyak::Address frame(uint32_t Place, unsigned Size) const {
    return Xbyak::Address(Size * 8, false, FrameStart + Place);
  }
  static Xbyak::Reg resize(const Xbyak::Reg &R, unsigned Size) {
    return R.changeBit(static_cast<int>(Size * 8));
  }
  /// Whether an instruction can hold the value as 4 bytes that it sign-extends
  /// to 8.
  static bool fitsSigned32(uint64_t Value) {
    return static_cast<int64_t>(Value) == static_cast<int32_t>(Value);
  }

  /// Zero-extends to 8 bytes; leaves the processor's flags alone.
  void load(const Xbyak::Reg64 &To, uint32_t Place, unsigned Size) {
    if (!isHeld(Place))
      loadFrom(To, frame(Place, Size), Size);
    else if (To != rax || Size < 8)
      loadFrom(To, resize(rax, Size), Size);
    if (To == rax)
      forgetHeld();
  }
  void store(uint32_t Place, const Xbyak::Reg64 &From, unsigned Size) {
    overwrite(Place, Size);
    mov(frame(Place, Size), resize(From, Size));
  }
  /// Changes RCX if no instruction can hold the value.
  void storeConstant(uint32_t Place, uint64_t Value, unsigned Size) {
    if (Size == 8 && !fitsSigned32(Value)) {
      mov(rcx, Value);
      return store(Place, rcx, 8);
    }
    overwrite(Place, Size);
    mov(frame(Place, Size), truncate(Value, Size));
  }
  /// Adds a constant of any size; may change Scratch.
  void addConstant(const Xbyak::Reg64 &To, uint64_t Value,
                   const Xbyak::Reg64 &Scratch) {
    if (fitsSigned32(Value)) {
      add(To, static_cast<uint32_t>(Value));
    } else {
      mov(Scratch, Value);
      add(To, Scratch);
    }
  }
  /// 16 bytes.
  void loadVector(const Xbyak::Xmm &To, uint32_t Place) {
    movups(To, frame(Place, 16));
  }
  void storeVector(uint32_t Place, const Xbyak::Xmm &From) {
    overwrite(Place, 16);
    movups(frame(Place, 16), From);
  }

  /// Stores RAX as the 8 bytes of a result.
  void storeResult(uint32_t Place) {
    store(Place, rax, 8);
    Held = Place;
  }
  /// The same where only the lowest Size bytes of RAX belong to the result.
  /// Instructions on 4 bytes have cleared what is above them already.
  void storeResult(uint32_t Place, unsigned Size) {
    if (Size < 4)
      movzx(eax, resize(rax, Size));
    storeResult(Place);
  }

  /// Whether RAX also holds the 8 bytes at Place.
  bool isHeld(uint32_t Place) const { return Place == Held; }
  /// RAX gets another value.
  void forgetHeld() { Held = None; }
  static uint64_t truncate(uint64_t Value, unsigned Size) {
    return Size == 8 ? Value : Value & ((uint64_t(1) << Size * 8) - 1);
  }

private:
  void loadFrom(const Xbyak::Reg64 &To, const Xbyak::Operand &From,
                unsigned Size) {
    if (Size < 4)
      movzx(To.cvt32(), From);
    else
      mov(resize(To, Size), From);
  }
  void overwrite(uint32_t Place, unsigned Size) {
    if (Held != None && Place < Held + 8 && Held < Place + Size)
      forgetHeld();
  }

  static constexpr uint32_t None = ~0u;
  const Xbyak::RegExp FrameStart;
  uint32_t Held = None;
};

} // namespace chronicle::native

#endif
