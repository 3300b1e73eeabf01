// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A superblock's program in the form the interpreter runs: operations of 16
/// bytes on a frame that holds the guest state and, after it, the temps.
///
/// Operands are byte offsets into the frame, read at the width of their type;
/// results of up to 8 bytes are written as 8, extended by zeros. So narrowing
/// and zero-extending are no operations but other names for the same bytes, a
/// GET can be the register itself as long as nobody overwrites it, and an
/// operation can write its result where a later PUT wants it.

#ifndef CHRONICLE_QUERY_REPLAYPROGRAM_H
#define CHRONICLE_QUERY_REPLAYPROGRAM_H

#include "trace-format/BytecodeReader.h"
#include "trace-format/ProgramFormat.h"
#include "trace-format/Stream.h"
#include "trace-format/ZeroedTable.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/TrailingObjects.h"
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace chronicle {

class TraceReader;

/// Operations of ReplayOps.def by name.
enum class Operation : uint16_t {
#define CH_REPLAY_OP(Name, Result, Arity, A, B, C, D) Op_##Name,
#include "trace-format/ReplayOps.def"
#undef CH_REPLAY_OP
};

/// What the interpreter can do. Numbers behind a name are widths in bytes.
enum class Code : uint16_t {
  Instruction, ///< A: its index. Exact programs only
  Const1,      ///< Dst = Imm
  Const2,
  Const4,
  Const8,
  Const16, ///< Imm: a bit a byte
  Const32,
  Copy1, ///< Dst = A
  Copy2,
  Copy4,
  Copy8,
  Copy16,
  Copy32,
  GetIndexed, ///< Dst, A: index, B: base, C: elements, D: size, Bias
  PutIndexed, ///< Dst: value, else as GetIndexed
  Load1,      ///< Dst = memory at A + Imm
  Load2,
  Load4,
  Load8,
  Load16,
  Load32,
  Store1, ///< memory at A + Imm = B
  Store2,
  Store4,
  Store8,
  Store16,
  Store32,
  LoadIndexed1, ///< Dst = memory at A + (B << C) + Bias
  LoadIndexed2,
  LoadIndexed4,
  LoadIndexed8,
  LoadIndexed16,
  StoreIndexed1, ///< memory at A + (B << C) + Bias = Dst
  StoreIndexed2,
  StoreIndexed4,
  StoreIndexed8,
  StoreIndexed16,
  StoreGuarded, ///< Dst: guard, A: address, B: value, C: size
  LoadGuarded,  ///< Dst, A: guard, B: address, C: other, D: conversion
  Cas,          ///< Dst, A: address, B: expected, C: data, D: size
  CasDouble,    ///< as Cas; the next one has Dst, B, C of the high half
  Ite1,         ///< Dst = A ? B : C
  Ite2,
  Ite4,
  Ite8,
  Ite16,
  Ite32,
  Call,         ///< Dst, A, B, C, D, E: arguments, F: helper | size << 8
  Opaque,       ///< Dst = the next A opaque bytes
  SkipOpaque,   ///< A bytes
  OpaqueMemory, ///< A: guard, B: address, C: size
  Exit,         ///< if A, leave for Imm by ordinal B
  ExitComputed, ///< if A, leave for the address in C by ordinal B
  Next,         ///< leave for A + Imm by ordinal B
  // Two or three of the above at once, all of 8 bytes.
  CopyTwice,  ///< Dst = A, B = C
  CopyConst,  ///< Dst = A, B = Imm
  ConstTwice, ///< Dst = low half of Imm, A = high half
  /// 16 bytes at Dst = 0, and so every 32 bytes, A times: vzeroupper is one.
  Clear16,
  /// CC_OP = Dst itself, CC_DEP1 = A, CC_DEP2 = B + Imm.
  SetFlags,
// A comparison and the Exit that follows it.
#define CH_FUSED_COMPARE(Name) Exit_##Name, ExitImmediate_##Name,
#include "query/FusedCompares.def"
#undef CH_FUSED_COMPARE
  First, ///< the operations of ReplayOps.def, twice: see below
};

/// Compares, then leaves by the Exit that is the next operation.
constexpr bool isFusedExit(Code C) {
  return C > Code::SetFlags && C < Code::First;
}
/// The next operation is part of this one.
constexpr bool takesNext(Code C) {
  return C == Code::CasDouble || isFusedExit(C);
}

constexpr uint16_t operationCode(unsigned N) {
  return static_cast<uint16_t>(static_cast<uint16_t>(Code::First) + 2 * N);
}
/// The form of a binary operation whose second operand is Imm.
constexpr uint16_t immediateCode(unsigned N) { return operationCode(N) + 1; }

struct ReplayOp {
  uint16_t Code;
  uint16_t Dst, A, B;
  union {
    uint64_t Imm;
    struct {
      uint16_t C, D;
      union {
        int32_t Bias;
        struct {
          uint16_t E, F;
        };
      };
    };
  };
};
static_assert(sizeof(ReplayOp) == 16);

/// The frame: guest state, a stretch that is always zero, temps. Every 16 bits
/// are a place in it, from which FrameSlack bytes may be used.
constexpr unsigned FrameZero = 960, FrameTemps = 1024, FrameSize = 65536,
                   FrameSlack = 32;
static_assert(FrameZero >= CH_GUEST_STATE_SIZE);

/// Fast: exact where the superblock is left. Exact: also before each
/// instruction, so that it can stop there.
enum class ProgramForm { Fast, Exact };

/// What running a program up to one of its exits takes, and does: all that a
/// replay of the recorded sequence needs to know.
struct ReplayExit {
  const ReplayOp *Code;  ///< of the whole program
  uint64_t Address;      ///< where it begins
  uint32_t Ordinal;      ///< of this exit, from 1
  uint32_t Instructions; ///< passed by an execution that leaves here
};

/// One stretch of memory without a pointer in it. A trace holds the programs of
/// superblocks that ran often in just this form (docs/format.md, "Programs"),
/// and they are run where they lie in the mapped file. Building one costs about
/// 260 processor instructions a statement, 8000 for the usual superblock;
/// checking a stored one about 15 an operation.
class ReplayProgram final
    : llvm::TrailingObjects<ReplayProgram, ReplayOp, uint16_t, uint8_t> {
public:
  static llvm::Expected<std::unique_ptr<ReplayProgram>>
  create(llvm::ArrayRef<uint8_t> Definition, ProgramForm Form);
  void operator delete(void *P) { ::operator delete(P); }

  /// Names the operations and their meaning: a stored program of another
  /// version is none.
  static uint64_t version();
  /// The fast program for the superblock at Address that Bytes begin with, or
  /// null if that is not what they are: a checksum holds against damage, and
  /// whatever they say, running it touches no memory but its own.
  static const ReplayProgram *at(llvm::ArrayRef<uint8_t> Bytes,
                                 uint64_t Address);
  /// The program as it is stored.
  llvm::ArrayRef<uint8_t> bytes() const {
    return {reinterpret_cast<const uint8_t *>(this), Size};
  }

  const ReplayOp *code() const { return getTrailingObjects<ReplayOp>(); }
  llvm::ArrayRef<ReplayOp> ops() const { return {code(), OpCount}; }
  uint32_t instructions() const { return InstructionCount; }
  uint32_t ordinals() const { return ExitCount; }
  /// Ordinals are from 1.
  ReplayExit exit(uint32_t Ordinal) const {
    assert(Ordinal >= 1 && Ordinal <= ordinals());
    return {code(), Start, Ordinal,
            getTrailingObjects<uint16_t>()[Ordinal - 1]};
  }
  uint64_t start() const { return Start; }
  /// Adds up the instructions before it.
  uint64_t address(uint32_t Instruction) const;
  /// Index of the instruction at Address, or -1.
  int instructionAt(uint64_t Address) const;

private:
  friend class ProgramBuilder;
  friend TrailingObjects;
  /// Passed: by exit, how many instructions. Lengths: of instructions.
  static llvm::Expected<std::unique_ptr<ReplayProgram>>
  create(uint64_t Start, llvm::ArrayRef<ReplayOp> Ops,
         llvm::ArrayRef<uint16_t> Passed, llvm::ArrayRef<uint8_t> Lengths);
  ReplayProgram() = default;
  size_t numTrailingObjects(OverloadToken<ReplayOp>) const { return OpCount; }
  size_t numTrailingObjects(OverloadToken<uint16_t>) const { return ExitCount; }
  llvm::ArrayRef<uint8_t> lengths() const {
    return {getTrailingObjects<uint8_t>(), InstructionCount};
  }
  uint32_t checksum() const;

  uint32_t Checksum; ///< of what follows
  uint32_t Size;     ///< in bytes, with padding to 8
  uint64_t Start;
  uint32_t OpCount;
  uint16_t ExitCount, InstructionCount;
};
static_assert(sizeof(ReplayProgram) == 24);

/// Makes programs for a trace to hold.
ProgramMaker programMaker();

class ProgramBuilder;

/// The programs of a trace: those it has are checked when first asked for, the
/// others built, and kept. Several threads may ask at once.
class ProgramCache {
public:
  explicit ProgramCache(const TraceReader &Trace);
  /// For tests: the definitions of superblocks 0, 1, ..., empty for none.
  using DefinitionLookup =
      std::function<llvm::ArrayRef<uint8_t>(uint32_t Superblock)>;
  ProgramCache(uint32_t Count, DefinitionLookup Lookup);
  ~ProgramCache();

  llvm::Expected<const ReplayProgram *> get(uint32_t Superblock,
                                            ProgramForm Form) {
    if (LLVM_UNLIKELY(Superblock >= Fast.size()))
      return none(Superblock);
    if (Form == ProgramForm::Fast && isChecked(Superblock))
      return reinterpret_cast<const ReplayProgram *>(
          Stored.find(Superblock).data());
    if (const ReplayProgram *P =
            table(Form)[Superblock].load(std::memory_order_acquire))
      return P;
    return find(Superblock, Form);
  }

private:
  using Slot = std::atomic<const ReplayProgram *>;
  ZeroedTable<Slot> &table(ProgramForm Form) {
    return Form == ProgramForm::Fast ? Fast : Exact;
  }
  bool isChecked(uint32_t Superblock) {
    return Checked[Superblock / 64].load(std::memory_order_relaxed) >>
               Superblock % 64 &
           1;
  }
  llvm::Expected<const ReplayProgram *> find(uint32_t Superblock,
                                             ProgramForm Form);
  llvm::Expected<const ReplayProgram *> build(uint32_t Superblock,
                                              ProgramForm Form);
  static llvm::Error none(uint32_t Superblock);

  DefinitionLookup Lookup;
  StoredPrograms Stored;
  llvm::ArrayRef<uint64_t> Addresses; ///< of superblocks, if Stored has any
  /// A bit a superblock: the trace has its program, and it is sound. Apart from
  /// the tables below, so that an answer touches few pages of them.
  ZeroedTable<std::atomic<uint64_t>> Checked;
  ZeroedTable<Slot> Fast, Exact;
  /// Builders keep their memory from one program to the next.
  std::mutex Lock;
  llvm::SmallVector<std::unique_ptr<ProgramBuilder>, 2> Builders;
  std::vector<uint32_t> Built; ///< in some form
};

} // namespace chronicle

#endif
