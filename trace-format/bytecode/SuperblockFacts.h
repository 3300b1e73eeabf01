// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The static facts about a superblock that indexer and query engine need: what
/// it puts into the store area, and what is known at each of its exits.

#ifndef CHRONICLE_TRACE_FORMAT_BYTECODE_SUPERBLOCKFACTS_H
#define CHRONICLE_TRACE_FORMAT_BYTECODE_SUPERBLOCKFACTS_H

#include "trace-format/bytecode/BytecodeReader.h"
#include <vector>

namespace chronicle::bytecode {

enum class SlotKind : uint8_t {
  Store,
  Load,
  Opaque,
  OpaqueRegisters,
  OpaqueMemory,
  StackPointer
};

/// What one statement puts into the store area.
struct SlotFact {
  SlotKind Kind;
  uint16_t Bytes; ///< of the value
  uint16_t FirstSlot;
  uint16_t Slots;
  uint16_t Instruction; ///< index of the instruction it belongs to
  uint16_t Exit;        ///< side exits before it: happened if ordinal > Exit
  /// Of opaque kinds why they are opaque; of a stack pointer its origin; of a
  /// load the flags of a write from outside that it finds.
  uint32_t Reason;
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
/// per instruction.
struct SuperblockFacts {
  DefinitionHeader Header;
  std::vector<SlotFact> Slots;
  std::vector<uint16_t> InstructionsAt;
  std::vector<uint16_t> SlotFactsAt;
  std::vector<uint64_t> InstructionAddress;
  std::vector<uint8_t> InstructionLength;
  std::vector<uint8_t> JumpAt;           ///< ch_jump by ordinal
  std::vector<StackPointerFact> StackAt; ///< by ordinal
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;
};
llvm::Expected<SuperblockFacts>
analyzeSuperblock(llvm::ArrayRef<uint8_t> Definition);

} // namespace chronicle::bytecode

#endif
