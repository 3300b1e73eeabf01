// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads the statements of replay programs (Bytecode.h).

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_BYTECODEREADER_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_BYTECODEREADER_H

#include "trace-format/bytecode/OperationTable.h"
#include "trace-format/bytecode/StatementField.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace chronicle::bytecode {

/// An operand: a temp, or a constant already relocated but not yet cut to its
/// type's width.
struct Atom {
  uint64_t Constant = 0;
  uint32_t Temp = 0;
  bool IsTemp = false;
};

/// What the reader resets for each statement: one cache line.
struct StatementHead {
  uint32_t Opcode = 0;    ///< ch_opcode, CH_OP_FIRST for all operations
  uint32_t Operation = 0; ///< number in ReplayOps.def
  ch_type Type = CH_I64;
  uint32_t Offset = 0; ///< guest-state offset or base
  uint32_t Elements = 0;
  int32_t Bias = 0;
  uint32_t Size = 0; ///< of an instruction, of opaque registers or memory
  uint32_t Helper = 0;
  uint32_t Reason = 0;
  uint32_t StackBase = 0; ///< exits: the stack pointer if taken
  int64_t StackDelta = 0;
  /// Temps defined: their count and type; the first has number FirstTemp.
  uint32_t FirstTemp = 0;
  ch_type DefinedType = CH_I64;
  uint8_t Defines = 0;
  uint8_t AtomCount = 0;
  uint8_t Conversion = 0;
  uint8_t Jump = 0;
  uint8_t Origin = 0; ///< ch_stack_origin
  bool Double = false;
};
static_assert(sizeof(StatementHead) == 64);

/// A decoded statement. Statements.def says which members an opcode uses;
/// operands are in the first AtomCount of Atoms, in the order given there.
struct Statement : StatementHead {
  static constexpr unsigned MaxAtoms = 8;
  Atom Atoms[MaxAtoms];
};

llvm::Error damagedProgram(const llvm::Twine &What);

struct DefinitionHeader {
  uint64_t Address = 0;
  uint32_t Instructions = 0, Exits = 0, Temps = 0, Slots = 0, Flags = 0;
};

/// A cursor over the statements. Every temp, offset and operation number is
/// validated: after success, using a statement cannot index out of bounds.
/// Costs about 40 instructions per statement.
class BytecodeReader {
public:
  static llvm::Expected<BytecodeReader>
  create(llvm::ArrayRef<uint8_t> Definition);
  const DefinitionHeader &header() const { return Header; }
  /// Overwrites all but the atoms that the statement does not have. Returns
  /// false at the end, and where the program is damaged: takeError() says
  /// which.
  bool next(Statement &S);
  /// Goes on to the next instruction, exit or change of the stack pointer, and
  /// leaves out its operands. Skips other statements unvalidated, at a quarter
  /// of the cost.
  bool nextFlow(Statement &S);
  llvm::Error takeError() const;

private:
  struct Cursor;
  struct OperandReader;
  BytecodeReader() = default;
  bool ends();
  template <StatementField Field> void readFlow(Cursor &C, Statement &S);
  template <StatementField... Fields> void read(OperandReader &R);
  template <StatementField... Fields> bool skip(Cursor &C, Statement &S);
  void readOperation(OperandReader &R);
  void define(Cursor &C, Statement &S);
  bool finish(const Cursor &C);

  DefinitionHeader Header;
  const uint8_t *P = nullptr, *End = nullptr;
  const char *Problem = nullptr;
  uint32_t NextTemp = 0;
  uint32_t StackPointersSeen = 0;
  uint32_t InstructionsSeen = 0, ExitsSeen = 0;
  bool Finished = false;
  llvm::SmallVector<uint8_t, 128> TempTypes; ///< NextTemp are known
};

} // namespace chronicle::bytecode

#endif
