// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What searches need to know about superblocks without replaying them: where
/// their instructions are, and what each exit does to time and stack.

#ifndef CHRONICLE_QUERY_CODETABLE_H
#define CHRONICLE_QUERY_CODETABLE_H

#include "trace-format/BytecodeReader.h"
#include "trace-format/TraceReader.h"
#include "trace-format/ZeroedTable.h"
#include <atomic>
#include <mutex>

namespace chronicle {

/// The facts about one superblock, small enough to keep all of them.
class CodeFacts {
public:
  /// How an execution that leaves by an exit changes things.
  struct Exit {
    uint16_t Instructions; ///< passed
    uint16_t StackSets;    ///< of stackSets(), happened
    uint8_t Jump;          ///< ch_jump
    StackPointerFact Stack;
  };
  /// The stack pointer is set to something unforeseen.
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
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;
  /// One that begins in [First, Last].
  bool hasInstructionIn(uint64_t First, uint64_t Last) const;
  /// Ordinals are from 1.
  const Exit &exit(uint32_t Ordinal) const { return Exits[Ordinal - 1]; }
  uint32_t exits() const { return uint32_t(Exits.size()); }
  llvm::ArrayRef<StackSet> stackSets() const { return StackSets; }

private:
  CodeFacts() = default;
  uint64_t Start = 0;
  std::vector<uint16_t> Offsets; ///< of instructions
  std::vector<Exit> Exits;
  std::vector<StackSet> StackSets;
};

/// All superblocks of a trace. Facts are worked out when first asked for (about
/// a thousand processor instructions) and kept (about 150 bytes). May be used
/// from several threads at once.
class CodeTable {
public:
  explicit CodeTable(const TraceReader &Trace)
      : Trace(Trace), Known(Trace.superblockCount()) {}

  /// The error says that the definition is damaged.
  llvm::Expected<const CodeFacts *> facts(uint32_t Superblock) const;
  /// Those with an instruction that begins in [First, Last], in order of ids.
  /// Looks at where each superblock begins, a nanosecond or less each: as long
  /// as there are fewer than a million, an order to search in costs more to
  /// make than all questions of a session to answer.
  llvm::Expected<std::vector<uint32_t>> containing(uint64_t First,
                                                   uint64_t Last) const;

private:
  const TraceReader &Trace;
  using Slot = std::atomic<const CodeFacts *>;
  mutable ZeroedTable<Slot> Known;
  mutable std::mutex Lock;
  mutable std::vector<std::unique_ptr<const CodeFacts>> Made;
};

/// The executions of a block, one after the other, with their times, threads
/// and facts. Walks the sequence; replays nothing.
class ExecutionWalk {
public:
  ExecutionWalk(const CodeTable &Code, const TraceReader &Trace, const Block &B)
      : Code(Code), Trace(Trace), B(B), Time(B.First) {}

  struct Item {
    uint64_t Index; ///< in the block
    Timestamp Time; ///< of its first instruction
    uint32_t Thread;
    uint32_t Superblock, Ordinal;
    uint32_t Passed; ///< instructions
    bool Faults;
    const CodeFacts *Facts;
  };
  /// Called with each event before the next execution, in order.
  llvm::function_ref<void(const Event &, Timestamp)> OnEvent;

  /// False at the end, after the last event.
  llvm::Expected<bool> next(Item &I);
  Timestamp time() const { return Time; }

private:
  const CodeTable &Code;
  const TraceReader &Trace;
  const Block &B;
  Timestamp Time;
  uint64_t Index = 0;
  size_t NextEvent = 0;
  uint32_t Thread = 0;
};

} // namespace chronicle

#endif
