// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a program needs of a definition: which statements matter, which temps
/// are only other names for bytes, and which results can be computed in place.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMANALYSIS_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMANALYSIS_H

#include "query/replay/program/ReplayProgram.h"
#include "trace-format/bytecode/BytecodeReader.h"
#include <vector>

namespace chronicle::program {

/// Analyzes one definition after the other, in memory that it keeps.
class ProgramAnalysis {
public:
  static constexpr uint32_t None = ~0u;
  static constexpr uint16_t NoPlace = 0xffff;

  struct Temp {
    ch_type Type;
    uint32_t Definition;  ///< statement
    uint32_t LastUse;     ///< statement, by any of its names; None: never used
    uint32_t Root;        ///< the temp whose bytes these are
    uint16_t Uses;        ///< as an operand
    uint16_t AddressUses; ///< as the address of a load or store
    uint16_t Place;       ///< offset in the frame
    bool OwnsPlace;       ///< the place is to be given back
    bool Sunk;            ///< lives in the guest state, by its PUT
    bool Extended;        ///< zeros follow it, up to 8 bytes from its place
  };
  /// A statement, and what the analysis found out about it.
  struct Step : bytecode::Statement {
    uint64_t Displacement; ///< load, store: added to the address
    /// The guest-state bytes that it reads or writes.
    uint16_t StateFirst, StateEnd;
    int8_t Alias;  ///< where its result is in its operand, or -1
    uint8_t Shift; ///< of the index
    bool Indexed;  ///< load, store: the last atom is an index, to be shifted
    bool Dead;
    bool touches(uint32_t First, uint32_t End) const {
      return StateFirst < End && First < StateEnd;
    }
  };

  llvm::Error analyze(llvm::ArrayRef<uint8_t> Definition, ProgramForm Form);

  ProgramForm form() const { return Form; }
  uint64_t start() const { return Header.Address; }
  llvm::ArrayRef<Step> steps() const { return {Steps.data(), StepCount}; }
  /// The emitter gives them their places.
  llvm::MutableArrayRef<Temp> temps() { return Temps; }
  /// By exit, how many instructions run before it.
  llvm::ArrayRef<uint16_t> passed() const { return Passed; }
  /// Of the instructions, in bytes.
  llvm::ArrayRef<uint8_t> lengths() const { return Lengths; }
  /// Whether a statement other than Except changes guest-state bytes [First,
  /// End) after statement From and before statement To.
  bool isOverwritten(uint32_t First, uint32_t End, uint32_t From, uint32_t To,
                     uint32_t Except) const;

private:
  /// A statement that writes guest state, and when the bytes change: before the
  /// statement if the value is computed in place.
  struct Write {
    uint32_t First, End, Statement, Time;
  };
  /// From when to when a sunk temp is in the guest state.
  struct Resident {
    uint32_t First, End, From, To;
  };

  llvm::Error read(llvm::ArrayRef<uint8_t> Definition);
  void define(const Step &S, uint32_t I);
  void foldAddresses();
  void findDead();
  void sinkResults();
  bool canSink(const Step &Put, uint32_t I);
  int aliasOffset(const bytecode::Statement &S) const;
  void use(const bytecode::Atom &A, uint32_t I);

  ProgramForm Form = ProgramForm::Fast;
  bytecode::DefinitionHeader Header;
  /// Both only grow; the first StepCount and Header.Temps are this program's.
  std::vector<Step> Steps;
  std::vector<Temp> Temps;
  uint32_t StepCount = 0;
  std::vector<uint32_t> Accesses; ///< statements: plain loads and stores
  std::vector<Write> Writes;
  std::vector<Resident> Residents;
  std::vector<uint16_t> Passed;
  std::vector<uint8_t> Lengths;
};

} // namespace chronicle::program

#endif
