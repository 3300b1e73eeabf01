// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes native code of one replay program.

#ifndef CHRONICLE_QUERY_PROGRAMCOMPILER_H
#define CHRONICLE_QUERY_PROGRAMCOMPILER_H

#include "query/NativeEncoder.h"
#include "query/ReplayProgram.h"
#include "llvm/ADT/SmallVector.h"

namespace chronicle {

/// Writes the code of one program: one operation after the other, and behind
/// them what is hardly ever reached.
class ProgramCompiler : NativeEncoder {
public:
  ProgramCompiler(llvm::ArrayRef<ReplayOp> Ops, uint8_t *Out)
      : NativeEncoder(Out), Ops(Ops) {}

  /// No operation takes more bytes than this.
  static constexpr size_t MostBytes = 192;

  /// Returns where the code ends.
  uint8_t *compile();

private:
  // These write an operation and say true, or nothing and false: then it is for
  // the interpreter.
  bool operation(const ReplayOp &Op);
  bool computation(Operation O, bool Immediate, const ReplayOp &Op);
  bool arithmetic(Arithmetic A, unsigned Size, bool Immediate,
                  const ReplayOp &Op);
  bool multiplication(unsigned Size, bool Immediate, const ReplayOp &Op);
  bool shift(Shift S, unsigned Size, bool Immediate, const ReplayOp &Op);
  bool comparison(Condition C, unsigned Size, bool Immediate,
                  const ReplayOp &Op);
  bool exitIf(Condition C, unsigned Size, bool Immediate, const ReplayOp &Op);
  bool signExtension(uint32_t Opcode, bool Wide, unsigned Size,
                     const ReplayOp &Op);
  bool join(unsigned Size, bool Immediate, const ReplayOp &Op);
  bool vectors(uint8_t Opcode, unsigned Size, const ReplayOp &Op);
  bool copy(unsigned Size, const ReplayOp &Op);
  bool choice(unsigned Size, const ReplayOp &Op);
  bool loadMemory(unsigned Size, bool Indexed, const ReplayOp &Op);
  bool storeMemory(unsigned Size, bool Indexed, const ReplayOp &Op);
  bool clear(const ReplayOp &Op);
  bool setFlags(const ReplayOp &Op);
  bool call(const ReplayOp &Op);

  // Parts of them.
  void compare(unsigned Size, bool Immediate, const ReplayOp &Op);
  void testByte(uint32_t Place) { // cmp byte [place], 0
    withPlace(0x80, false, 7, Place);
    bytes({0});
  }
  void address(bool Indexed, const ReplayOp &Op);
  void lookUp(unsigned Size, uint8_t Table, const ReplayOp &Op);
  uint8_t *callInterpreter(const ReplayOp &First, uint32_t Count);
  void prologue();
  void epilogue() { bytes({0x41, 0x5d, 0x41, 0x5c, 0x5b, 0xc3}); }
  bool leave(const ReplayOp &Exit);

  /// What lies behind the program: where it is reached from, and goes on.
  struct Detour {
    uint8_t *From;      ///< 4 bytes, to be filled in
    uint8_t *Back;      ///< null: leaves the program
    const ReplayOp *Op; ///< null: leaves it with what the interpreter returned
    bool Loads;         ///< its result is expected in RAX
  };
  void detourIf(Condition C, const ReplayOp *Op) {
    bytes({0x0f, static_cast<uint8_t>(0x80 | static_cast<uint8_t>(C))});
    Detours.push_back({Out, nullptr, Op, false});
    number<uint32_t>(0);
  }
  bool detourEnds(bool Loads) {
    Detours.back().Back = Out;
    Detours.back().Loads = Loads;
    return true;
  }
  void write(const Detour &D);

  llvm::ArrayRef<ReplayOp> Ops;
  llvm::SmallVector<Detour, 16> Detours;
};

} // namespace chronicle

#endif
