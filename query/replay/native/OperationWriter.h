// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes native code for single operations of a replay program.

#ifndef CHRONICLE_QUERY_REPLAY_NATIVE_OPERATIONWRITER_H
#define CHRONICLE_QUERY_REPLAY_NATIVE_OPERATIONWRITER_H

#include "query/replay/machine/Interpreter.h"
#include "query/replay/native/FrameAssembler.h"
#include "llvm/ADT/SmallVector.h"

namespace chronicle::native {

/// One function per kind of operation. Each writes code that does what the
/// interpreter does for the operation, to the same frame and memory.
///
/// Registers: RBX points into the frame, R12 and R13 to the memory's tables of
/// pages to read and to write.
class OperationWriter : protected FrameAssembler {
protected:
  using ReplayOp = program::ReplayOp;

  OperationWriter(llvm::MutableArrayRef<uint8_t> Room, bool MarksReads);

  // Instructions that come in families, as Xbyak's functions that write them.
  struct Arithmetic {
    void (CodeGenerator::*WithOperand)(const Xbyak::Operand &,
                                       const Xbyak::Operand &);
    void (CodeGenerator::*WithConstant)(const Xbyak::Operand &, uint32_t);
    bool Commutes;
  };
  struct Shift {
    void (CodeGenerator::*ByRegister)(const Xbyak::Operand &,
                                      const Xbyak::Reg8 &);
    void (CodeGenerator::*ByConstant)(const Xbyak::Operand &, int);
    bool Signed;
  };
  struct Condition {
    void (CodeGenerator::*Set)(const Xbyak::Operand &);
    void (CodeGenerator::*Jump)(const Xbyak::Label &, LabelType);
  };
  using Vector = void (CodeGenerator::*)(const Xbyak::Mmx &,
                                         const Xbyak::Operand &);

  // Sizes are in bytes. Immediate: the second operand is the constant Op.Imm.
  void arithmetic(const Arithmetic &A, unsigned Size, bool Immediate,
                  const ReplayOp &Op);
  void multiplication(unsigned Size, bool Immediate, const ReplayOp &Op);
  void shift(const Shift &S, unsigned Size, bool Immediate, const ReplayOp &Op);
  void complement(unsigned Size, const ReplayOp &Op);
  /// Of one bit; the operand's other bits are zero.
  void complementBit(const ReplayOp &Op);
  void lowestBit(const ReplayOp &Op);
  void trailingZeros(const ReplayOp &Op);
  void comparison(const Condition &C, unsigned Size, bool Immediate,
                  const ReplayOp &Op);
  void zeroExtension(unsigned From, const ReplayOp &Op);
  void signExtension(unsigned From, unsigned To, const ReplayOp &Op);
  /// Makes one value of two values of Size bytes; A is the high half.
  void join(unsigned Size, const ReplayOp &Op);

  /// Size is a multiple of 16.
  void vector(Vector V, unsigned Size, const ReplayOp &Op);
  void vectorOfInteger(unsigned Size, const ReplayOp &Op);
  /// One bit per byte of 16.
  void highestBits(const ReplayOp &Op);

  void copy(unsigned Size, const ReplayOp &Op);
  void copyTwice(const ReplayOp &Op);
  void copyAndConstant(const ReplayOp &Op);
  void twoConstants(const ReplayOp &Op);
  void choice(unsigned Size, const ReplayOp &Op);
  void setFlags(const ReplayOp &Op);
  // These two write nothing and return false for an operation that is left to
  // the interpreter.
  bool clear(const ReplayOp &Op);
  bool helperCall(const ReplayOp &Op);

  void loadMemory(unsigned Size, bool Indexed, const ReplayOp &Op);
  void storeMemory(unsigned Size, bool Indexed, const ReplayOp &Op);

  /// Leaves the program if the guard Op.A is not zero.
  void exitIfGuard(const ReplayOp &Op);
  /// Compares, and leaves the program by the exit behind Op.
  void exitIf(const Condition &C, unsigned Size, bool Immediate,
              const ReplayOp &Op);
  void leave(const ReplayOp &Exit);

  void prologue();
  void epilogue();
  /// Interprets the operations that RSI points to, up to the end behind them.
  /// Leaves the program if the interpreter returns for another reason.
  void interpretStretch();
  /// Writes the code of all detours. The program ends before it.
  void writeDetours();

private:
  /// Code for a case that is rare: apart from the program, so that the usual
  /// way through it has no jump that is taken.
  struct Detour {
    Xbyak::Label Entry;
    const uint8_t *Back; ///< null: the detour leaves the program
    const ReplayOp *Op;  ///< null: leave with what the interpreter returned
    bool Loads;          ///< the program expects the result of Op in RAX
  };

  void compare(unsigned Size, bool Immediate, const ReplayOp &Op);
  void testGuard(uint32_t Place);
  void memoryAddress(bool Indexed, const ReplayOp &Op);
  void findPage(const Xbyak::Reg64 &Table, unsigned Size, const ReplayOp &Op);
  void markWritten(unsigned Size);
  void markRead(unsigned Size);
  void detour(void (CodeGenerator::*Jump)(const Xbyak::Label &, LabelType),
              const ReplayOp *Op);
  void endDetour(bool Loads);
  void write(Detour &D);
  using InterpreterFunction = uint32_t(machine::Interpreter *,
                                       const ReplayOp *);
  const uint8_t *writeEntry(InterpreterFunction *Function);
  void callInterpreter(const uint8_t *Entry);

  const bool MarksReads;
  // Where programs enter the interpreter.
  const uint8_t *ForOne, *ForStretch;
  llvm::SmallVector<Detour, 16> Detours;
};

} // namespace chronicle::native

#endif
