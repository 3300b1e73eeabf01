// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The last step of building a program: places for temps, and the operations.

#ifndef CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMEMITTER_H
#define CHRONICLE_QUERY_REPLAY_PROGRAM_PROGRAMEMITTER_H

#include "query/replay/program/ProgramAnalysis.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace chronicle::program {

/// Emits one program after the other, in memory that it keeps.
class ProgramEmitter {
public:
  /// Gives temps their places, and emits the operations of an analyzed
  /// definition. Fails if the frame is too small.
  llvm::Error emit(ProgramAnalysis &Analyzed);
  /// What the last call of emit() made.
  llvm::ArrayRef<ReplayOp> ops() const { return Ops; }

private:
  using Temp = ProgramAnalysis::Temp;
  using Step = ProgramAnalysis::Step;
  static constexpr uint32_t None = ProgramAnalysis::None;

  void emitStatement(uint32_t I);
  void emitGet(const Step &S, uint32_t I);
  void emitPut(const Step &S);
  void emitIndexed(const Step &S);
  void emitAccess(const Step &S);
  void emitGuardedStore(const Step &S);
  void emitGuardedLoad(const Step &S);
  void emitCas(const Step &S);
  void emitIte(const Step &S);
  void emitCall(const Step &S);
  void emitOpaque(const Step &S);
  void emitExit(const Step &S, uint32_t I);
  void emitNext(const Step &S);
  void emitOperation(const Step &S);
  bool fuseExit(const bytecode::Atom &Guard, uint32_t I);
  void releaseAfter(uint32_t I);
  uint16_t place(const bytecode::Atom &A, ch_type Type);
  uint16_t placeResult(uint32_t Number);
  uint16_t allocate(unsigned Size);
  void release(uint16_t Place, unsigned Size);
  void constant(uint16_t To, ch_type Type, uint64_t Value);
  ReplayOp &add(Code C, uint16_t Dst = 0, uint16_t A = 0, uint16_t B = 0);

  const ProgramAnalysis *Analysis = nullptr;
  const Step *Steps = nullptr; ///< the analysis's
  Temp *Temps = nullptr;       ///< the analysis's
  std::vector<ReplayOp> Ops;
  /// Places of constants, for one statement.
  llvm::SmallVector<std::pair<uint16_t, unsigned>, 8> Scratch;
  llvm::SmallVector<uint16_t, 32> Free[3]; ///< places of 8, 16 and 32 bytes
  uint32_t NextPlace = FrameTemps;
  uint32_t ExitsSeen = 0, InstructionsSeen = 0;
};

} // namespace chronicle::program

#endif
