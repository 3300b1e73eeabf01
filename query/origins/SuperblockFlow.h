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
  /// The bytes [First, First + Size) of an operand of the statement, followed
  /// through temps to where they were read or made. In order; bytes that
  /// extending by zeros or by the sign adds to others are left out.
  std::vector<FlowPiece> pieces(const bytecode::Atom &A, ch_type Type,
                                uint32_t First, uint32_t Size,
                                uint32_t Statement) const;
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
  bool isZero(const bytecode::Atom &A, ch_type Type, uint32_t Byte) const;
  FlowPiece read(uint32_t Statement, uint32_t Byte, bool &Extended) const;
  void addOperands(const bytecode::Atom &A, ch_type Type, uint32_t Instruction,
                   uint32_t Before, unsigned Depth,
                   std::vector<answers::OriginStep::Operand> &To) const;

  const SuperblockRun &Run;
  mutable unsigned Depth = 0; ///< of isZero()
};

} // namespace chronicle::origins

#endif
