// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What searches need to know about a superblock without replaying it: where
/// its instructions are, and what each exit does to time and stack.

#ifndef CHRONICLE_QUERY_CODE_CODEFACTS_H
#define CHRONICLE_QUERY_CODE_CODEFACTS_H

#include "trace-format/bytecode/SuperblockFacts.h"
#include <memory>
#include <vector>

namespace chronicle::code {

/// The facts about one superblock, small enough that all of them can be kept.
class CodeFacts {
public:
  /// What an execution that leaves by an exit does.
  struct Exit {
    uint16_t Instructions; ///< passed
    uint16_t StackSets;    ///< how many of stackSets() happened
    uint8_t Jump;          ///< ch_jump
    bytecode::StackPointerFact Stack;
  };
  /// The stack pointer is set to a value that only replay knows.
  struct StackSet {
    uint16_t Instruction;
    bool Elsewhere; ///< CH_STACK_ELSEWHERE
  };

  static llvm::Expected<std::unique_ptr<const CodeFacts>>
  create(llvm::ArrayRef<uint8_t> Definition);

  uint32_t instructions() const { return uint32_t(Offsets.size()); }
  uint64_t address(uint32_t Instruction) const {
    return Start + Offsets[Instruction];
  }
  uint64_t lastAddress() const {
    return Offsets.empty() ? Start : Start + Offsets.back();
  }
  /// The address after the last instruction.
  uint64_t endAddress() const { return Start + Size; }
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;
  /// Whether an instruction begins in [First, Last].
  bool hasInstructionIn(uint64_t First, uint64_t Last) const;
  /// Ordinals start at 1.
  const Exit &exit(uint32_t Ordinal) const { return Exits[Ordinal - 1]; }
  uint32_t exits() const { return uint32_t(Exits.size()); }
  llvm::ArrayRef<StackSet> stackSets() const { return StackSets; }

private:
  CodeFacts() = default;
  uint64_t Start = 0;
  uint32_t Size = 0;             ///< in bytes
  std::vector<uint16_t> Offsets; ///< of instructions
  std::vector<Exit> Exits;
  std::vector<StackSet> StackSets;
};

} // namespace chronicle::code

#endif
