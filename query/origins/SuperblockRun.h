// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One execution of a superblock, with the value of every temp.

#ifndef CHRONICLE_QUERY_ORIGINS_SUPERBLOCKRUN_H
#define CHRONICLE_QUERY_ORIGINS_SUPERBLOCKRUN_H

#include "query/code/ExecutionWalk.h"
#include "query/replay/operations/ValueTypes.h"
#include "query/state/StateCache.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include <array>

namespace chronicle::origins {

/// A value of any type; narrow ones are extended by zeros.
using TempValue = std::array<uint8_t, 32>;

/// Operation N of ReplayOps.def.
TempValue computeOperation(unsigned N, llvm::ArrayRef<TempValue> Operands);

/// Replays one execution of a superblock statement by statement and keeps all
/// of it: replay itself keeps the result only. Costs some 50 nanoseconds per
/// statement.
class SuperblockRun {
public:
  struct Step {
    bytecode::Statement S;
    uint32_t Instruction = 0;
    /// Of an access the address; of an element of an array its offset in the
    /// guest state.
    uint64_t Place = 0;
    /// Whether a guarded access, or the store of a compare-and-swap, happened;
    /// which of two values was taken.
    bool Taken = true;
  };

  /// Runs the execution that holds instruction T, of block N. Nothing: no
  /// instruction of that block has the time.
  static llvm::Expected<std::optional<SuperblockRun>>
  create(state::StateCache &States, const code::CodeTable &Code, BlockNumber N,
         Timestamp T);

  Timestamp start() const { return Item.Time; }
  /// Whether the instruction at T belongs to it.
  bool contains(Timestamp T) const { return T - Item.Time < Item.Passed; }
  uint32_t thread() const { return Item.Thread; }
  uint32_t superblock() const { return Item.Superblock; }
  uint64_t address(uint32_t Instruction) const {
    return Item.Facts->address(Instruction);
  }
  /// The statements of the instructions that were executed.
  llvm::ArrayRef<Step> steps() const { return Steps; }
  /// The statement that defines a temp.
  uint32_t definition(uint32_t Temp) const { return Definitions[Temp]; }
  TempValue value(const bytecode::Atom &A, ch_type Type) const;
  ch_type typeOf(uint32_t Temp) const;

private:
  llvm::Error run(state::StateCursor &Cursor,
                  llvm::ArrayRef<uint8_t> Definition);
  llvm::Error execute(Step &X, state::StateCursor &Cursor);
  void load(uint64_t Address, uint8_t *To, size_t Size,
            state::StateCursor &Cursor);
  void store(uint64_t Address, llvm::ArrayRef<uint8_t> Bytes);
  void applyOutside(state::StateCursor &Cursor, uint32_t Instruction,
                    bool AtSwap);
  llvm::Error takeOpaque(uint8_t *To, size_t Size);
  void define(const Step &X, unsigned Which, const TempValue &V);

  code::ExecutionWalk::Item Item;
  std::vector<Step> Steps;
  std::vector<TempValue> Temps;
  std::vector<uint32_t> Definitions;
  // While it runs.
  std::array<uint8_t, CH_GUEST_STATE_SIZE> State;
  llvm::ArrayRef<uint8_t> Opaque;
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> Stores;
};

} // namespace chronicle::origins

#endif
