// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A superblock's program in the form that the interpreter runs.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_REPLAYPROGRAM_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_REPLAYPROGRAM_H

#include "query/replay/program/ReplayOp.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TrailingObjects.h"
#include <memory>

namespace chronicle::program {

/// A fast program has the exact guest state where the superblock is left. An
/// exact one has it before each instruction too, so that it can stop there.
/// Programs of both forms make every store, but a fast one makes no load whose
/// value nothing needs. The third form is a fast one with all loads.
enum class ProgramForm { Fast, Exact, AllLoads };

/// All that a replay of the recorded sequence needs to know about running a
/// program up to one of its exits.
struct ReplayExit {
  const ReplayOp *Code;  ///< of the whole program
  uint64_t Address;      ///< where it begins
  uint32_t Ordinal;      ///< of this exit, from 1
  uint32_t Instructions; ///< passed by an execution that leaves here
};

/// One stretch of memory without a pointer in it. A trace holds the programs of
/// superblocks that ran often in exactly this form (docs/format.md,
/// "Programs"), and they run where they lie in the mapped file. Building one
/// costs about 260 processor instructions per statement, 8000 for the usual
/// superblock; checking a stored one costs about 15 per operation.
class ReplayProgram final
    : llvm::TrailingObjects<ReplayProgram, ReplayOp, uint16_t, uint8_t> {
public:
  static llvm::Expected<std::unique_ptr<ReplayProgram>>
  create(llvm::ArrayRef<uint8_t> Definition, ProgramForm Form);
  void operator delete(void *P) { ::operator delete(P); }

  /// Stands for the operations and their meaning. A stored program of another
  /// version must not be used.
  static uint64_t version();
  /// The fast program that Bytes begin with, for a superblock with an address
  /// and a number of exits; null if they are something else. A checksum finds
  /// damage, also of what led to these bytes: it covers the superblock's
  /// number. Whatever the bytes say, running the program touches no memory but
  /// its own.
  static const ReplayProgram *at(llvm::ArrayRef<uint8_t> Bytes,
                                 uint32_t Superblock, uint64_t Address,
                                 uint32_t Exits);
  /// The program as it is stored for a superblock.
  llvm::SmallVector<uint8_t, 0> stored(uint32_t Superblock) const;
  /// Whether both do the same.
  bool operator==(const ReplayProgram &P) const { return body() == P.body(); }

  const ReplayOp *code() const { return getTrailingObjects<ReplayOp>(); }
  llvm::ArrayRef<ReplayOp> ops() const { return {code(), OpCount}; }
  uint32_t instructions() const { return InstructionCount; }
  uint32_t ordinals() const { return ExitCount; }
  /// Ordinals start at 1.
  ReplayExit exit(uint32_t Ordinal) const {
    assert(Ordinal >= 1 && Ordinal <= ordinals());
    return {code(), Start, Ordinal,
            getTrailingObjects<uint16_t>()[Ordinal - 1]};
  }
  uint64_t start() const { return Start; }
  /// The address of an instruction. Adds up the lengths of those before it.
  uint64_t address(uint32_t Instruction) const;
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;

private:
  friend class ProgramBuilder;
  friend TrailingObjects;
  /// Passed has, by exit, how many instructions run before it. Lengths are
  /// those of the instructions.
  static llvm::Expected<std::unique_ptr<ReplayProgram>>
  create(uint64_t Start, llvm::ArrayRef<ReplayOp> Ops,
         llvm::ArrayRef<uint16_t> Passed, llvm::ArrayRef<uint8_t> Lengths);
  ReplayProgram() = default;
  size_t numTrailingObjects(OverloadToken<ReplayOp>) const { return OpCount; }
  size_t numTrailingObjects(OverloadToken<uint16_t>) const { return ExitCount; }
  llvm::ArrayRef<uint8_t> lengths() const {
    return {getTrailingObjects<uint8_t>(), InstructionCount};
  }
  /// All of it but the checksum.
  llvm::ArrayRef<uint8_t> body() const {
    return llvm::ArrayRef(reinterpret_cast<const uint8_t *>(this), Size)
        .drop_front(sizeof(Checksum));
  }
  uint32_t checksum(uint32_t Superblock) const;

  uint32_t Checksum; ///< of what follows; 0 in one that is not stored
  uint32_t Size;     ///< in bytes, with padding to 8
  uint64_t Start;
  uint32_t OpCount;
  uint16_t ExitCount, InstructionCount;
};
static_assert(sizeof(ReplayProgram) == 24);

} // namespace chronicle::program

#endif
