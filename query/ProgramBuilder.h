// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Turns a definition into a ReplayProgram: drops what nobody sees, gives every
/// temp its place in the frame, and writes the operations.

#ifndef CHRONICLE_QUERY_PROGRAMBUILDER_H
#define CHRONICLE_QUERY_PROGRAMBUILDER_H

#include "query/ReplayProgram.h"
#include "llvm/ADT/SmallVector.h"

namespace chronicle {

/// Builds one program after the other, in memory that it keeps: a question
/// that nobody asked before needs thousands of programs, most of them to run
/// once or twice, so what counts here is instructions a statement. Nothing is
/// allocated but the program itself.
class ProgramBuilder {
public:
  llvm::Expected<std::unique_ptr<ReplayProgram>>
  build(llvm::ArrayRef<uint8_t> Definition, ProgramForm Form);

private:
  static constexpr uint32_t None = ~0u;
  static constexpr uint16_t NoPlace = 0xffff;

  struct Temp {
    ch_type Type;
    uint32_t Definition;  ///< statement
    uint32_t LastUse;     ///< statement, through other names too
    uint32_t Root;        ///< the temp whose bytes these are
    uint16_t Uses;        ///< as an operand
    uint16_t AddressUses; ///< as the address of a load or store
    uint16_t Place;       ///< offset in the frame
    bool OwnsPlace;       ///< a temp place, to be given back
    bool Sunk;            ///< lives in the guest state, by its PUT
    bool Extended;        ///< zeros follow it, up to 8 bytes from its place
  };
  /// A statement, and what was found out about it.
  struct Step : Statement {
    uint64_t Displacement; ///< load, store: added to the address
    /// The guest-state bytes it reads or writes.
    uint16_t StateFirst, StateEnd;
    int8_t Alias;  ///< where its result is in its operand, or -1
    uint8_t Shift; ///< of the index
    bool Indexed;  ///< load, store: the last atom is an index, to be shifted
    bool Dead;
    bool touches(uint32_t First, uint32_t End) const {
      return StateFirst < End && First < StateEnd;
    }
  };
  /// A statement that writes guest state, and when the bytes really change:
  /// earlier than the statement if the value is computed in place.
  struct Write {
    uint32_t First, End, Statement, Time;
  };
  /// A sunk temp's stay in the guest state.
  struct Resident {
    uint32_t First, End, From, To;
  };

  llvm::Error read(llvm::ArrayRef<uint8_t> Definition);
  void define(const Step &S, uint32_t I);
  void foldAddresses();
  void findDead();
  void sinkResults();
  bool canSink(const Step &Put, uint32_t I);
  bool isOverwritten(uint32_t First, uint32_t End, uint32_t From, uint32_t To,
                     uint32_t Except) const;
  int aliasOffset(const Statement &S) const;
  void use(const Atom &A, uint32_t I);

  // ProgramEmission.cpp
  llvm::Error emitAll();
  void emit(uint32_t I);
  void emitAccess(uint32_t I);
  bool fuseExit(const Atom &Guard, uint32_t I);
  void fuseMoves();
  uint16_t place(const Atom &A, ch_type Type);
  uint16_t placeResult(uint32_t T);
  uint16_t allocate(unsigned Size);
  void release(uint16_t Place, unsigned Size);
  void constant(uint16_t To, ch_type Type, uint64_t Value);
  ReplayOp &add(Code C, uint16_t Dst = 0, uint16_t A = 0, uint16_t B = 0);

  ProgramForm Form = ProgramForm::Fast;
  DefinitionHeader Header;
  /// Both only grow; the first StepCount and Header.Temps are this program's.
  std::vector<Step> Steps;
  std::vector<Temp> Temps;
  uint32_t StepCount = 0;
  std::vector<uint32_t> Accesses; ///< statements: plain loads and stores
  std::vector<Write> Writes;
  std::vector<Resident> Residents;
  std::vector<ReplayOp> Ops;
  std::vector<uint16_t> Passed; ///< by exit, instructions
  std::vector<uint8_t> Lengths; ///< of instructions
  /// For one statement.
  llvm::SmallVector<std::pair<uint16_t, unsigned>, 8> Scratch;
  llvm::SmallVector<uint16_t, 32> Free[3]; ///< places of 8, 16 and 32 bytes
  uint32_t NextPlace = FrameTemps;
  uint32_t ExitsSeen = 0, InstructionsSeen = 0;
};

} // namespace chronicle

#endif
