// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the indexer must know about every superblock, packed for its hot loop.

#ifndef CHRONICLE_INDEXER_SUPERBLOCKTABLE_H
#define CHRONICLE_INDEXER_SUPERBLOCKTABLE_H

#include "trace-format/bytecode/SuperblockFacts.h"
#include <optional>
#include <vector>

namespace chronicle::indexer {

/// What the hot loop reads about an exit, in one word, so that the words of a
/// batch can be added up: the number of instructions, the move of the stack
/// pointer, and a 1. Flags are above these, where no carry reaches them.
class Step {
public:
  enum Kind : uint64_t {
    Plain = 0,
    /// All kinds below have this bit: they need more than the sum.
    Special = uint64_t(1) << 63,
    /// The stack pointer rises, and may leave activations.
    Rises = Special,
    Calls = Special | uint64_t(1) << 62,
    /// Has slots, sets the stack pointer, does not fit into a Step, or is not
    /// defined: see SuperblockTable::Exit. Its word only counts.
    Other = Special | uint64_t(1) << 61,
  };
  /// This many words can be added up without overflow.
  static constexpr size_t BatchSize = 1024;

  constexpr Step() = default;
  explicit constexpr Step(Kind K, uint32_t Instructions = 0, int64_t Stack = 0)
      : Bits(K |
             (uint64_t(Stack) << (64 - StackBits) >> (64 - StackBits))
                 << StackShift |
             uint64_t(Instructions) << CountBits | 1) {}
  static constexpr bool fits(uint64_t Instructions, int64_t Stack) {
    return Instructions < (uint64_t(1) << InstructionBits) / BatchSize &&
           Stack > -MaxStack && Stack < MaxStack;
  }

  /// These are also valid for a sum.
  uint32_t count() const { return Bits & ((1 << CountBits) - 1); }
  uint32_t instructions() const {
    return Bits >> CountBits & ((1 << InstructionBits) - 1);
  }
  int64_t stack() const {
    return int64_t(Bits << (64 - StackBits - StackShift)) >> (64 - StackBits);
  }
  Step operator+(Step More) const {
    Step Sum;
    Sum.Bits = Bits + More.Bits;
    return Sum;
  }

  /// These are valid only for a single step.
  unsigned isSpecial() const { return Bits >> 63; }
  bool is(Kind K) const { return (Bits & K) == K; }

private:
  static constexpr unsigned CountBits = 11, InstructionBits = 22,
                            StackBits = 28;
  static constexpr unsigned StackShift = CountBits + InstructionBits;
  static constexpr int64_t MaxStack =
      (int64_t(1) << (StackBits - 1)) / BatchSize;
  static_assert(BatchSize < 1 << CountBits && StackShift + StackBits <= 61);
  uint64_t Bits = 0;
};

/// Takes about 40 bytes per superblock, 22 per exit, 15 per slot and 1 per
/// instruction.
class SuperblockTable {
public:
  struct Entry {
    uint32_t FirstExit = 0;
    uint32_t SlotBytes = 0; ///< of the store area, for every execution
    uint32_t FirstFact = 0;
  };
  /// What is needed to handle Step::Other.
  struct Exit {
    uint16_t Instructions;
    uint16_t Special; ///< flags
    int32_t Stack;    ///< move of the stack pointer; StackSet: a number
  };
  enum : uint16_t {
    Call = 1,
    StackSet = 2, ///< not only moved: see setStack()
    HasSlots = 4,
  };

  SuperblockTable();

  /// Ids come one after the other, from 1, and so do exits.
  llvm::Error define(uint32_t Id, uint32_t FirstExit,
                     llvm::ArrayRef<uint8_t> Definition);

  /// The undefined entry 0 for ids that do not exist.
  const Entry &operator[](uint32_t Id) const {
    return Entries[Id < Entries.size() ? Id : 0];
  }
  const bytecode::SlotFact *facts(const Entry &E) const {
    return Facts.data() + E.FirstFact;
  }
  /// The end of the facts of the superblock defined last.
  const bytecode::SlotFact *factsEnd() const {
    return Facts.data() + Facts.size();
  }
  uint32_t count() const { return Entries.size() - 1; }
  uint32_t exitCount() const { return Owners.size(); }
  /// Whether some superblocks do not log their stores (CH_DEF_MARKS_STORES).
  bool someMarkStores() const { return SomeMarkStores; }
  uint32_t ownerOf(uint32_t Exit) const { return Owners[Exit]; }
  /// By exit.
  llvm::ArrayRef<uint32_t> owners() const { return Owners; }
  const bytecode::StackPointerFact &setStack(const Exit &X) const {
    return SetStacks[X.Stack];
  }
  /// By exit: how many instructions it passes, as the programs piece has it.
  std::vector<uint8_t> passed() const;
  /// Slots filled by an execution that leaves by this exit.
  uint32_t factsAt(uint32_t Exit) const { return FactsAt[Exit]; }

  const Exit &exit(uint32_t Exit) const { return Exits[Exit]; }
  /// The superblock of a run word; 0: none.
  uint32_t superblockOf(uint32_t Word) const {
    return Word - 1 < exitCount() ? Owners[Word - 1] : 0;
  }

  /// By run word, below stepEnd(), which is a power of two, so that several
  /// words can be compared with it at once. Undefined words are Other.
  const Step *steps() const { return Steps.data(); }
  uint32_t stepEnd() const { return uint32_t(Steps.size()); }

  struct FaultPoint {
    uint32_t Instructions; ///< complete before the fault
    uint32_t Facts;        ///< slots that belong to them
  };
  /// Where an execution stopped that faulted at Rip; nothing if no instruction
  /// of the superblock is there.
  std::optional<FaultPoint> faultPoint(uint32_t Id, uint64_t Rip) const;

private:
  /// Only faults need these.
  struct Place {
    uint64_t Address = 0;
    uint32_t FirstLength = 0;
    uint16_t Instructions = 0;
    uint16_t Facts = 0;
  };
  std::vector<Entry> Entries;
  std::vector<Step> Steps;       ///< by run word
  std::vector<Exit> Exits;       ///< by exit
  std::vector<uint32_t> Owners;  ///< by exit
  std::vector<uint16_t> FactsAt; ///< by exit
  std::vector<bytecode::StackPointerFact> SetStacks;
  std::vector<bytecode::SlotFact> Facts;
  std::vector<Place> Places;
  std::vector<uint8_t> Lengths; ///< of instructions
  bool SomeMarkStores = false;
};

} // namespace chronicle::indexer

#endif
