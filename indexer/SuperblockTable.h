// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the indexer must know about every superblock, packed for its hot loop.

#ifndef CHRONICLE_INDEXER_SUPERBLOCKTABLE_H
#define CHRONICLE_INDEXER_SUPERBLOCKTABLE_H

#include "trace-format/BytecodeReader.h"
#include "llvm/ADT/bit.h"
#include <optional>
#include <vector>

namespace chronicle {

/// About 40 bytes a superblock, 14 an exit, 15 a slot and 1 an instruction.
class SuperblockTable {
public:
  struct Entry {
    uint32_t FirstExit = 0;
    uint32_t SlotBytes = 0; ///< of the store area, for every execution
    uint32_t FirstFact = 0;
  };
  /// All that the hot loop reads, as one word: those without flags are summed
  /// up as they are, MaxSummed of them.
  struct Exit {
    uint16_t Instructions;
    uint16_t Special; ///< flags
    int32_t Stack;    ///< what the stack pointer changes by; StackSet: a number
  };
  enum : uint16_t {
    Call = 1,
    StackSet = 2, ///< not only moved: see setStack()
    HasSlots = 4,
    /// The stack pointer rises, and may leave activations.
    Rises = 8,
    /// It moves so far that a sum could overflow.
    Far = 16,
    Undefined = 32,
    /// What takes more than a look at where the stack pointer is.
    TakesMore = Call | StackSet | HasSlots,
  };
  static constexpr size_t MaxSummed = 1 << 16;
  static constexpr int32_t MaxSummedStack = 1 << 14;

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
  const StackPointerFact &setStack(const Exit &X) const {
    return SetStacks[X.Stack];
  }
  /// By exit: how many instructions it passes, as the programs piece has it.
  std::vector<uint8_t> passed() const;
  /// Slots filled by an execution that leaves by this exit.
  uint32_t factsAt(uint32_t Exit) const { return FactsAt[Exit]; }

  /// Exits for a stretch in which nothing is defined, without the vector in
  /// between.
  class ExitView {
  public:
    uint32_t count() const { return Count; }
    const Exit &operator[](uint32_t Number) const {
      return Exits[size_t(Number) + 1];
    }
    /// Run words below this have an entry, which may be Undefined. A power of
    /// two, so that several can be held against it at once.
    uint32_t wordEnd() const { return WordEnd; }
    /// An exit by its run word: its number plus 1.
    uint64_t step(uint32_t Word) const {
      return llvm::bit_cast<uint64_t>(Exits[Word]);
    }

  private:
    friend class SuperblockTable;
    const Exit *Exits;
    uint32_t Count, WordEnd;
  };
  /// The flags in a step, or in several of them.
  static constexpr uint64_t stepFlags(uint64_t Steps) {
    return Steps & 0xffff0000;
  }
  ExitView exits() const {
    ExitView V;
    V.Exits = Exits.data();
    V.Count = exitCount();
    V.WordEnd = uint32_t(Exits.size());
    return V;
  }

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
  std::vector<Exit> Exits;       ///< by run word
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
