// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What searches need to know about superblocks without replaying them: where
/// their instructions are, and what each exit does to time and stack.

#ifndef CHRONICLE_QUERY_CODETABLE_H
#define CHRONICLE_QUERY_CODETABLE_H

#include "trace-format/BytecodeReader.h"
#include "trace-format/ProgramFormat.h"
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
      : Trace(Trace),
        Longest(uint64_t(Trace.longestSuperblock()) * LongestInstruction),
        Known(Trace.superblockCount()) {}

  /// By exit: how many instructions an execution passes that leaves by it, as
  /// the trace has it; what it does not have, passedByFacts() says.
  llvm::ArrayRef<uint8_t> passed() const {
    std::call_once(PassedOnce, [this] { findPassed(); });
    return Passed;
  }
  llvm::Expected<uint32_t> passedByFacts(uint32_t Exit) const;

  /// The error says that the definition is damaged.
  llvm::Expected<const CodeFacts *> facts(uint32_t Superblock) const;
  /// False: it begins too far away to have an instruction in [First, Last].
  bool mayContain(uint32_t Superblock, uint64_t First, uint64_t Last) const {
    const uint64_t Lowest = First - std::min(First, Longest);
    return Trace.superblockAddresses()[Superblock] - Lowest <= Last - Lowest;
  }
  /// Those with an instruction that begins in [First, Last], in order of ids.
  /// Looks at where each superblock begins, a nanosecond or less each: as long
  /// as there are fewer than a million, an order to search in costs more to
  /// make than all questions of a session to answer.
  llvm::Expected<std::vector<uint32_t>> containing(uint64_t First,
                                                   uint64_t Last) const;

private:
  void findPassed() const;

  /// Of an x86 instruction, in bytes.
  static constexpr uint32_t LongestInstruction = 15;

  const TraceReader &Trace;
  const uint64_t Longest; ///< superblock, in bytes
  mutable std::once_flag PassedOnce;
  mutable llvm::ArrayRef<uint8_t> Passed; ///< by exit; may be empty
  using Slot = std::atomic<const CodeFacts *>;
  mutable ZeroedTable<Slot> Known;
  mutable std::mutex Lock;
  mutable std::vector<std::unique_ptr<const CodeFacts>> Made;
};

/// The executions of a block, one after the other, with their times and
/// threads. Walks the sequence; replays nothing, and reads no definition unless
/// facts are asked for.
class ExecutionWalk {
public:
  ExecutionWalk(const CodeTable &Code, const TraceReader &Trace, const Block &B)
      : Code(Code), Trace(Trace), B(B), Passed(Code.passed()), Time(B.First) {}

  struct Item {
    uint64_t Index; ///< in the block
    Timestamp Time; ///< of its first instruction
    uint32_t Thread;
    uint32_t Exit;
    uint32_t Superblock;
    uint32_t Passed; ///< instructions
    bool Faults;
    // By addFacts():
    const CodeFacts *Facts;
    uint32_t Ordinal; ///< of the exit
  };
  /// Called with each event before the next execution, in order.
  llvm::function_ref<void(const Event &, Timestamp)> OnEvent;

  /// False at the end, after the last event.
  llvm::Expected<bool> next(Item &I);
  llvm::Error addFacts(Item &I) const;
  Timestamp time() const { return Time; }

private:
  const CodeTable &Code;
  const TraceReader &Trace;
  const Block &B;
  const llvm::ArrayRef<uint8_t> Passed; ///< by exit
  Timestamp Time;
  uint64_t Index = 0;
  size_t NextEvent = 0;
  uint32_t Thread = 0;
};

} // namespace chronicle

#endif
