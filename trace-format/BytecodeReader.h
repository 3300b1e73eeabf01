// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Reads replay programs (Bytecode.h): a cursor over the statements, and the
/// static facts about a superblock that indexer and replayer need.

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODEREADER_H
#define CHRONICLE_TRACE_FORMAT_BYTECODEREADER_H

#include "trace-format/Bytecode.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cassert>
#include <cstdint>
#include <vector>

namespace chronicle {

/// Bytes a value of the type takes (I1: one).
inline unsigned typeSize(ch_type Type) {
  constexpr uint8_t Sizes[CH_TYPE_COUNT] = {1, 1, 2, 4, 8, 16, 4, 8, 16, 32};
  assert(Type < CH_TYPE_COUNT);
  return Sizes[Type];
}

/// Result and operands of operation N of ReplayOps.def.
struct OperationInfo {
  const char *Name;
  ch_type Result;
  unsigned Arity;
  ch_type Operands[4];
};
unsigned operationCount();
const OperationInfo &operationInfo(unsigned N);

/// The helpers of ReplayHelpers.def.
unsigned helperCount();
const char *helperName(unsigned N);

/// Result type and bytes read of a ch_load_conversion.
ch_type conversionResult(uint8_t Conversion);
unsigned conversionBytes(uint8_t Conversion);

/// An operand: a temp, or a constant already relocated but not yet cut to its
/// type's width.
struct Atom {
  uint64_t Constant = 0;
  uint32_t Temp = 0;
  bool IsTemp = false;
};

/// What of a statement is set anew each time: one line of the cache.
struct StatementHead {
  uint32_t Opcode = 0;    ///< ch_opcode, CH_OP_FIRST for all operations
  uint32_t Operation = 0; ///< number in ReplayOps.def
  ch_type Type = CH_I64;
  uint32_t Offset = 0; ///< guest-state offset or base
  uint32_t Elements = 0;
  int32_t Bias = 0;
  uint32_t Size = 0; ///< instruction length, bytes of opaque registers or memory
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

/// A decoded statement. Which members count is said at the opcode in
/// Bytecode.h; operands are in the first AtomCount of Atoms, in the order given
/// there.
struct Statement : StatementHead {
  static constexpr unsigned MaxAtoms = 8;
  Atom Atoms[MaxAtoms];
};

struct DefinitionHeader {
  uint64_t Address = 0;
  uint32_t Instructions = 0, Exits = 0, Temps = 0, Slots = 0, Flags = 0;
};

/// A cursor. Every temp, offset and operation number is validated: after
/// success, using a statement cannot index out of bounds. Costs about 40
/// instructions a statement.
class BytecodeReader {
public:
  static llvm::Expected<BytecodeReader>
  create(llvm::ArrayRef<uint8_t> Definition);
  const DefinitionHeader &header() const { return Header; }
  /// Overwrites all but the atoms the statement does not have. False at the
  /// end, and where the program is damaged: takeError() says which.
  bool next(Statement &S);
  /// The same for instructions, exits and changes of the stack pointer alone,
  /// without their operands. Of all other statements only the length matters:
  /// a quarter of the cost.
  bool nextFlow(Statement &S);
  llvm::Error takeError() const;

private:
  struct Cursor;
  BytecodeReader() = default;
  bool ends();
  void readFlow(Cursor &C, Statement &S);
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

enum class SlotKind : uint8_t { Store, Load, Opaque, OpaqueRegisters, OpaqueMemory, StackPointer };

/// What one statement puts into the store area.
struct SlotFact {
  SlotKind Kind;
  uint16_t Bytes;       ///< of the value
  uint16_t FirstSlot;
  uint16_t Slots;
  uint16_t Instruction; ///< index of the instruction it belongs to
  uint16_t Exit;        ///< side exits before it: happened if ordinal > Exit
  uint32_t Reason;      ///< opaque kinds; of a stack pointer its origin
};

/// The stack pointer at an exit: its value at entry (Base 0) or that of the
/// Base-th StackPointer slot, plus Delta.
struct StackPointerFact {
  uint32_t Base = 0;
  int64_t Delta = 0;
};

/// The static facts of a superblock. InstructionsAt[k] (k = ordinal, from 1) is
/// how many instructions an execution that leaves by ordinal k passes;
/// SlotFactsAt[k] how many of Slots it fills. InstructionAddress has one entry
/// an instruction.
struct SuperblockFacts {
  DefinitionHeader Header;
  std::vector<SlotFact> Slots;
  std::vector<uint16_t> InstructionsAt;
  std::vector<uint16_t> SlotFactsAt;
  std::vector<uint64_t> InstructionAddress;
  std::vector<uint8_t> InstructionLength;
  std::vector<uint8_t> JumpAt; ///< ch_jump by ordinal
  std::vector<StackPointerFact> StackAt; ///< by ordinal
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;
};
llvm::Expected<SuperblockFacts> analyzeSuperblock(llvm::ArrayRef<uint8_t> Definition);

} // namespace chronicle

#endif
