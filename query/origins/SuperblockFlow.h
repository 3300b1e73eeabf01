// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where the bytes that a superblock writes come from.

#ifndef CHRONICLE_QUERY_ORIGINS_SUPERBLOCKFLOW_H
#define CHRONICLE_QUERY_ORIGINS_SUPERBLOCKFLOW_H

#include "query/answers/Origin.h"
#include "query/origins/SuperblockRun.h"

namespace chronicle::origins {

/// Bytes of a value, and where they come from.
struct FlowPiece {
  enum Kind {
    Place,    ///< read from From
    Constant, ///< of the code
    Computed,
    Helper,
  };
  uint32_t First = 0, Size = 0; ///< of the bytes that were asked about
  Kind What = Place;
  /// The statement that read From, or made the bytes.
  uint32_t Statement = 0;
  answers::ValuePlace From;
};

/// An operand that chose which value was taken: the condition of a conditional
/// move, the control of a shuffle.
struct FlowChoice {
  uint32_t Statement = 0;
  unsigned Atom = 0, First = 0, Size = 1; ///< which of its bytes
};

/// Where bytes come from, and what chose them.
struct FlowSources {
  std::vector<FlowPiece> Pieces;
  std::vector<FlowPiece> Conditions;
};

/// A statement's write to memory or registers.
struct FlowWrite {
  answers::ValuePlace To;
  std::optional<bytecode::Atom> Value; ///< nothing: replay cannot compute it
  ch_type Type = CH_I64;
};

/// Answers from one execution of a superblock. Looking through it costs tens of
/// nanoseconds per statement. One thread at a time.
class SuperblockFlow {
public:
  explicit SuperblockFlow(const SuperblockRun &Run) : Run(Run) {}

  /// What the statement writes; a double compare-and-swap writes twice.
  llvm::SmallVector<FlowWrite, 2> writesOf(uint32_t Statement) const;
  /// That of its writes in which the place lies.
  std::optional<FlowWrite> writeTo(const answers::ValuePlace &P,
                                   uint32_t Statement) const;
  /// The bytes [First, First + Size) of an operand of the statement, followed
  /// through temps to where they were read or made. In order; bytes that
  /// extending by zeros or by the sign adds to others are left out.
  std::vector<FlowPiece> pieces(const bytecode::Atom &A, ch_type Type,
                                uint32_t First, uint32_t Size,
                                uint32_t Statement) const;
  /// The same for a slice: parts of a number that are computed do not stand for
  /// the whole, and what chose between values counts.
  FlowSources sources(const bytecode::Atom &A, ch_type Type, uint32_t First,
                      uint32_t Size, uint32_t Statement) const;
  /// What the instruction of a statement that computes computed its result
  /// from. Constants of that instruction are left out.
  FlowSources sourcesOf(uint32_t Statement) const;
  /// The write, in the instruction of a statement that computes, of its result;
  /// nothing if it goes to later instructions only.
  std::optional<FlowWrite> writeOf(uint32_t Statement) const;
  /// What the statement of a piece that is no place made; empty: a constant
  /// that it only wrote.
  std::vector<uint8_t> resultOf(const FlowPiece &P) const;
  /// A step at the instruction of the statement.
  answers::OriginStep stepAt(uint32_t Statement) const;
  /// Says in the step what made a piece, which is no place.
  void addMaker(answers::OriginStep &To, const FlowPiece &P) const;
  /// What the statement of a piece read from the piece's place.
  std::vector<uint8_t> valueOf(const FlowPiece &P) const;
  /// What the instruction of a statement computed its result from.
  std::vector<answers::OriginStep::Operand> operands(uint32_t Statement) const;

private:
  /// Where one byte comes from; From.Size is 1.
  FlowPiece byteOf(const bytecode::Atom &A, ch_type Type, uint32_t Byte,
                   uint32_t Statement, bool &Extended) const;
  FlowPiece byteOfOperation(const SuperblockRun::Step &X, uint32_t Byte,
                            uint32_t Statement, bool &Extended) const;
  FlowPiece byteOfBits(const SuperblockRun::Step &X, uint32_t Byte,
                       uint32_t Statement, bool &Extended) const;
  std::vector<FlowPiece> collect(const bytecode::Atom &A, ch_type Type,
                                 uint32_t First, uint32_t Size,
                                 uint32_t Statement) const;
  ch_type operandType(const SuperblockRun::Step &X, unsigned Atom) const;
  void chosenBy(uint32_t Statement, unsigned Atom, unsigned Byte) const;
  /// Goes from each condition to what it was computed from.
  void resolveChoices(FlowSources &To, uint32_t Instruction) const;
  void addSources(const std::vector<FlowPiece> &Found, uint32_t Instruction,
                  std::vector<uint32_t> &Seen,
                  std::vector<FlowPiece> &To) const;
  bool isZero(const bytecode::Atom &A, ch_type Type, uint32_t Byte) const;
  FlowPiece read(uint32_t Statement, uint32_t Byte, bool &Extended) const;
  void addOperands(const bytecode::Atom &A, ch_type Type, uint32_t Instruction,
                   uint32_t Before, unsigned Depth,
                   std::vector<answers::OriginStep::Operand> &To) const;

  const SuperblockRun &Run;
  mutable unsigned Depth = 0; ///< of isZero()
  /// Collects while not null.
  mutable std::vector<FlowChoice> *Choices = nullptr;
};

} // namespace chronicle::origins

#endif
