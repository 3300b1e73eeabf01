// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The part of SuperblockFlow that slices need.

#include "query/origins/SuperblockFlow.h"
#include "trace-format/GuestState.h"
#include "trace-format/bytecode/OperationTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::OriginKind;
using answers::OriginStep;
using bytecode::typeSize;
using Step = SuperblockRun::Step;

void SuperblockFlow::chosenBy(uint32_t Statement, unsigned Atom,
                              unsigned Byte) const {
  if (!Choices || Depth || !Run.steps()[Statement].S.Atoms[Atom].IsTemp)
    return;
  if (none_of(*Choices, [&](const FlowChoice &C) {
        return C.Statement == Statement && C.Atom == Atom && C.First == Byte;
      }))
    Choices->push_back({Statement, Atom, Byte, 1});
}

ch_type SuperblockFlow::operandType(const Step &X, unsigned Atom) const {
  if (X.S.Atoms[Atom].IsTemp)
    return Run.typeOf(X.S.Atoms[Atom].Temp);
  return X.S.Opcode == CH_OP_FIRST
             ? bytecode::operationInfo(X.S.Operation).Operands[Atom]
             : CH_I64;
}

static bool isSame(const FlowPiece &A, const FlowPiece &B) {
  return A.What == B.What && A.Statement == B.Statement &&
         A.From.InMemory == B.From.InMemory &&
         A.From.Address == B.From.Address && A.From.Size == B.From.Size;
}

/// Adds pieces that are not there yet; goes through those that the instruction
/// itself computed.
void SuperblockFlow::addSources(const std::vector<FlowPiece> &Found,
                                uint32_t Instruction,
                                std::vector<uint32_t> &Seen,
                                std::vector<FlowPiece> &To) const {
  for (const FlowPiece &P : Found) {
    const Step &X = Run.steps()[P.Statement];
    const bool Here = X.Instruction == Instruction;
    if (P.What == FlowPiece::Constant && Here)
      continue;
    if (P.What != FlowPiece::Computed || !Here) {
      if (none_of(To, [&](const FlowPiece &Other) { return isSame(P, Other); }))
        To.push_back(P);
      continue;
    }
    if (is_contained(Seen, P.Statement))
      continue;
    Seen.push_back(P.Statement);
    for (unsigned I = 0; I < X.S.AtomCount; ++I)
      if (X.S.Atoms[I].IsTemp) {
        const ch_type Type = operandType(X, I);
        addSources(collect(X.S.Atoms[I], Type, 0, typeSize(Type), P.Statement),
                   Instruction, Seen, To);
      }
  }
}

void SuperblockFlow::resolveChoices(FlowSources &To,
                                    uint32_t Instruction) const {
  std::vector<uint32_t> Seen;
  // Conditions may depend on further ones, which Choices gets then.
  for (size_t I = 0; I < Choices->size(); ++I) {
    const FlowChoice C = (*Choices)[I];
    const Step &X = Run.steps()[C.Statement];
    addSources(collect(X.S.Atoms[C.Atom], operandType(X, C.Atom), C.First,
                       C.Size, C.Statement),
               Instruction, Seen, To.Conditions);
  }
}

FlowSources SuperblockFlow::sources(const bytecode::Atom &A, ch_type Type,
                                    uint32_t First, uint32_t Size,
                                    uint32_t Statement) const {
  std::vector<FlowChoice> Chosen;
  Choices = &Chosen;
  FlowSources Result;
  Result.Pieces = collect(A, Type, First, Size, Statement);
  resolveChoices(Result, Run.steps()[Statement].Instruction);
  Choices = nullptr;
  return Result;
}

FlowSources SuperblockFlow::sourcesOf(uint32_t Statement) const {
  std::vector<FlowChoice> Chosen;
  Choices = &Chosen;
  FlowSources Result;
  FlowPiece P;
  P.What = FlowPiece::Computed;
  P.Statement = Statement;
  std::vector<uint32_t> Seen;
  const uint32_t Instruction = Run.steps()[Statement].Instruction;
  addSources({P}, Instruction, Seen, Result.Pieces);
  resolveChoices(Result, Instruction);
  Choices = nullptr;
  return Result;
}

std::optional<FlowWrite> SuperblockFlow::writeOf(uint32_t Statement) const {
  const uint32_t Instruction = Run.steps()[Statement].Instruction;
  for (uint32_t I = Statement + 1;
       I < Run.steps().size() && Run.steps()[I].Instruction == Instruction; ++I)
    for (const FlowWrite &W : writesOf(I)) {
      // The flags are kept as the values that they are computed from.
      const bool OfFlags = !W.To.InMemory && W.To.Address >= CH_OFFSET_CC_OP &&
                           W.To.Address < CH_OFFSET_CC_OP + 4 * 8;
      if (W.Value && !OfFlags &&
          any_of(collect(*W.Value, W.Type, 0, W.To.Size, I),
                 [&](const FlowPiece &P) {
                   return P.What == FlowPiece::Computed &&
                          P.Statement == Statement;
                 }))
        return W;
    }
  return std::nullopt;
}

std::vector<uint8_t> SuperblockFlow::resultOf(const FlowPiece &P) const {
  const Step &X = Run.steps()[P.Statement];
  if (!X.S.Defines)
    return {};
  bytecode::Atom A;
  A.IsTemp = true;
  A.Temp = X.S.FirstTemp;
  const TempValue V = Run.value(A, X.S.DefinedType);
  return ArrayRef(V).take_front(typeSize(X.S.DefinedType)).vec();
}

OriginStep SuperblockFlow::stepAt(uint32_t Statement) const {
  const uint32_t Instruction = Run.steps()[Statement].Instruction;
  OriginStep Result;
  Result.Time = Run.start() + Instruction;
  Result.Thread = Run.thread();
  Result.Pc = Run.address(Instruction);
  return Result;
}

void SuperblockFlow::addMaker(OriginStep &To, const FlowPiece &P) const {
  To.Made = P.What == FlowPiece::Constant   ? OriginKind::Constant
            : P.What == FlowPiece::Computed ? OriginKind::Computed
                                            : OriginKind::Helper;
  if (P.What != FlowPiece::Computed)
    return;
  const bytecode::Statement &By = Run.steps()[P.Statement].S;
  To.Operation = By.Opcode == CH_OP_FIRST
                     ? bytecode::operationInfo(By.Operation).Name
                 : By.Opcode == CH_OP_CALL ? bytecode::helperName(By.Helper)
                                           : "";
  To.Operands = operands(P.Statement);
}

} // namespace chronicle::origins
