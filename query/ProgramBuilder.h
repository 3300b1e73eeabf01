// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Turns a definition into a ReplayProgram: drops what nobody sees, gives every
/// temp its place in the frame, and writes the operations.

#ifndef CHRONICLE_QUERY_PROGRAMBUILDER_H
#define CHRONICLE_QUERY_PROGRAMBUILDER_H

#include "query/ReplayProgram.h"

namespace chronicle {

/// Used once.
class ProgramBuilder {
public:
  explicit ProgramBuilder(ProgramForm Form) : Form(Form) {}
  llvm::Expected<std::unique_ptr<ReplayProgram>>
  build(llvm::ArrayRef<uint8_t> Definition);

private:
  static constexpr uint32_t None = ~0u;
  static constexpr uint16_t NoPlace = 0xffff;

  struct Temp {
    ch_type Type = CH_I64;
    uint32_t Definition = None; ///< statement
    uint32_t LastUse = None;    ///< statement, through other names too
    uint32_t Root = None;       ///< the temp whose bytes these are
    uint16_t Place = NoPlace;   ///< offset in the frame
    bool OwnsPlace = false;     ///< a temp place, to be given back
    bool Sunk = false;          ///< lives in the guest state, by its PUT
    bool Extended = false; ///< zeros follow it, up to 8 bytes from its place
  };
  /// How a load or store finds its address, beyond its atom.
  struct AddressParts {
    uint64_t Displacement = 0;
    bool Indexed = false; ///< the last atom is an index, to be shifted
    uint8_t Shift = 0;
  };
  /// A statement that writes guest state, and when the bytes really change:
  /// earlier than the statement if the value is computed in place.
  struct Write {
    uint32_t Offset, Size, Statement, Time;
  };
  /// A sunk temp's stay in the guest state.
  struct Resident {
    uint32_t Offset, Size, From, To;
  };

  llvm::Error read(llvm::ArrayRef<uint8_t> Definition);
  void foldAddresses();
  void findDead();
  void sinkResults();
  bool canSink(const Statement &Put, uint32_t I);
  bool isOverwritten(uint32_t Offset, uint32_t Size, uint32_t From, uint32_t To,
                     uint32_t Except) const;
  llvm::Error emitAll();
  void emit(uint32_t I);
  void emitAccess(uint32_t I);
  bool fuseExit(const Atom &Guard, uint32_t I);
  void fuseMoves();
  int aliasOffset(const Statement &S) const;

  void use(const Atom &A, uint32_t I);
  uint16_t place(const Atom &A, ch_type Type);
  uint16_t define(uint32_t T);
  uint16_t allocate(unsigned Size);
  void release(uint16_t Place, unsigned Size);
  void constant(uint16_t To, ch_type Type, uint64_t Value);
  ReplayOp &add(Code C, uint16_t Dst = 0, uint16_t A = 0, uint16_t B = 0);

  ProgramForm Form;
  std::unique_ptr<ReplayProgram> Program;
  std::vector<Statement> Statements;
  std::vector<int8_t> Alias; ///< by statement: its offset in its operand, or -1
  std::vector<AddressParts> Addresses;
  std::vector<bool> Dead;
  std::vector<Temp> Temps;
  std::vector<Write> Writes;
  std::vector<Resident> Residents;
  std::vector<std::pair<uint16_t, unsigned>> Scratch; ///< for one statement
  std::vector<uint16_t> Free[3]; ///< places of 8, 16 and 32 bytes
  uint32_t NextPlace = FrameTemps;
  uint32_t ExitsSeen = 0, InstructionsSeen = 0;
};

} // namespace chronicle

#endif
