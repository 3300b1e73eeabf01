// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the indexer must know about every superblock, packed for its hot loop.

#ifndef CHRONICLE_INDEXER_SUPERBLOCKTABLE_H
#define CHRONICLE_INDEXER_SUPERBLOCKTABLE_H

#include "trace-format/BytecodeReader.h"
#include <optional>
#include <vector>

namespace chronicle {

/// What the hot loop reads of an exit, in one word, so that those of a batch
/// are summed up as they are: Instructions, by how much the stack pointer
/// moves, and a 1. What else it says is above these, where nothing carries into
/// them.
class Step {
public:
  enum Kind : uint64_t {
    Plain = 0,
    /// All below: more than a sum of them says.
    Special = uint64_t(1) << 63,
    /// The stack pointer rises, and may leave activations.
    Rises = Special,
    Calls = Special | uint64_t(1) << 62,
    /// Has slots, sets the stack pointer, cannot be summed up, is not defined:
    /// see SuperblockTable::Exit. Only counts.
    Other = Special | uint64_t(1) << 61,
  };
  /// So many can be summed up.
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

  /// Of a sum, too.
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

  /// Only of one step.
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

/// About 40 bytes a superblock, 22 an exit, 15 a slot and 1 an instruction.
class SuperblockTable {
public:
  struct Entry {
    uint32_t FirstExit = 0;
    uint32_t SlotBytes = 0; ///< of the store area, for every execution
    uint32_t FirstFact = 0;
  };
  /// What Step::Other is to be handled by.
  struct Exit {
    uint16_t Instructions;
    uint16_t Special; ///< flags
    int32_t Stack;    ///< what the stack pointer changes by; StackSet: a number
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
  const SlotFact *facts(const Entry &E) const {
    return Facts.data() + E.FirstFact;
  }
  /// The end of the facts of the superblock defined last.
  const SlotFact *factsEnd() const { return Facts.data() + Facts.size(); }
  uint32_t count() const { return Entries.size() - 1; }
  uint32_t exitCount() const { return Owners.size(); }
  /// Some do not log their stores (CH_DEF_MARKS_STORES).
  bool someMarkStores() const { return SomeMarkStores; }
  uint32_t ownerOf(uint32_t Exit) const { return Owners[Exit]; }
  /// By exit.
  llvm::ArrayRef<uint32_t> owners() const { return Owners; }
  const StackPointerFact &setStack(const Exit &X) const {
    return SetStacks[X.Stack];
  }
  /// By exit: how many instructions it passes, as the programs piece has it.
  std::vector<uint8_t> passed() const;
  /// Slots filled by an execution that leaves by this exit.
  uint32_t factsAt(uint32_t Exit) const { return FactsAt[Exit]; }

  const Exit &exit(uint32_t Exit) const { return Exits[Exit]; }
  /// The superblock that a run word is of; 0: none.
  uint32_t superblockOf(uint32_t Word) const {
    return Word - 1 < exitCount() ? Owners[Word - 1] : 0;
  }

  /// By run word, below stepEnd(), which is a power of two: several can be held
  /// against it at once. What is not defined is Other.
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
  /// Only a fault asks for these.
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
  std::vector<StackPointerFact> SetStacks;
  std::vector<SlotFact> Facts;
  std::vector<Place> Places;
  std::vector<uint8_t> Lengths; ///< of instructions
  bool SomeMarkStores = false;
};

} // namespace chronicle

#endif
