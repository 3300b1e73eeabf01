// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What searches need to know about superblocks without replaying them: where
/// their instructions are, and what each exit does to time and stack.

#ifndef CHRONICLE_QUERY_CODETABLE_H
#define CHRONICLE_QUERY_CODETABLE_H

#include "trace-format/BytecodeReader.h"
#include "trace-format/TraceReader.h"
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

  explicit CodeFacts(const SuperblockFacts &F);

  uint32_t instructions() const { return uint32_t(Offsets.size()); }
  uint64_t address(uint32_t Instruction) const {
    return Start + Offsets[Instruction];
  }
  uint64_t lastAddress() const {
    return Offsets.empty() ? Start : Start + Offsets.back();
  }
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;
  /// Ordinals are from 1.
  const Exit &exit(uint32_t Ordinal) const { return Exits[Ordinal - 1]; }
  uint32_t exits() const { return uint32_t(Exits.size()); }
  llvm::ArrayRef<StackSet> stackSets() const { return StackSets; }

private:
  uint64_t Start;
  std::vector<uint16_t> Offsets; ///< of instructions
  std::vector<Exit> Exits;
  std::vector<StackSet> StackSets;
};

/// All superblocks of a trace. Making it reads their headers; facts are worked
/// out when first asked for (some microseconds) and kept (about 150 bytes). May
/// be used from several threads at once.
class CodeTable {
public:
  explicit CodeTable(const TraceReader &Trace);
  ~CodeTable();

  /// The error says that the definition is damaged.
  llvm::Expected<const CodeFacts *> facts(uint32_t Superblock) const;
  /// Those with an instruction that begins in [First, Last], in order of ids.
  llvm::Expected<std::vector<uint32_t>> containing(uint64_t First,
                                                   uint64_t Last) const;

private:
  struct Place {
    uint64_t Start;
    uint32_t Length; ///< at most
    uint32_t Superblock;
  };
  const TraceReader &Trace;
  std::vector<Place> Places; ///< by start
  uint32_t Longest = 0;
  mutable std::vector<std::atomic<const CodeFacts *>> Known;
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
