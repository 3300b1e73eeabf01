// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/ConditionSearch.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::ConditionOperand;
using answers::ValuePlace;

static bool isOfFlags(const ValuePlace &P) {
  return !P.InMemory && P.Address >= CH_OFFSET_CC_OP &&
         P.Address < CH_OFFSET_CC_NDEP + 8;
}

/// A value that the condition was computed from, or that the instruction which
/// set the flags read.
void ConditionSearch::addPiece(const Run &In, const FlowPiece &P) {
  const SuperblockFlow Flow(*In);
  const uint32_t Instruction = In->steps()[P.Statement].Instruction;
  const Timestamp Time = In->start() + Instruction;
  ConditionOperand O;
  if (P.What == FlowPiece::Place) {
    if (isOfFlags(P.From)) {
      Strand S;
      S.Place = P.From;
      S.Value = Flow.valueOf(P);
      S.Run = In;
      S.Before = P.Statement;
      Flags.push_back(std::move(S));
      return;
    }
    O = {P.From, Flow.valueOf(P), Time};
  } else {
    // The result of an instruction is where that wrote it. One that only set
    // the flags compared: its operands count.
    const std::optional<FlowWrite> To = Flow.writeOf(P.Statement);
    if (!To && P.What == FlowPiece::Computed) {
      if (is_contained(Seen, std::pair(In->start(), P.Statement)))
        return;
      Seen.emplace_back(In->start(), P.Statement);
      return add(In, Flow.sourcesOf(P.Statement));
    }
    if (!To)
      return;
    const TempValue V = In->value(*To->Value, To->Type);
    O = {To->To, ArrayRef(V).take_front(To->To.Size).vec(), Time + 1};
  }
  if (none_of(Result.Operands, [&](const ConditionOperand &Other) {
        return Other.Place.InMemory == O.Place.InMemory &&
               Other.Place.Address == O.Place.Address &&
               Other.Place.Size == O.Place.Size && Other.At == O.At;
      }))
    Result.Operands.push_back(std::move(O));
}

/// The instruction that set the flags last before a statement, if it is of this
/// execution.
void ConditionSearch::setCompared(const Run &In, uint32_t Before) {
  const SuperblockFlow Flow(*In);
  for (uint32_t I = Before; I-- > 0 && !Result.ComparedPc;)
    for (const FlowWrite &W : Flow.writesOf(I))
      if (isOfFlags(W.To)) {
        const uint32_t Instruction = In->steps()[I].Instruction;
        Result.Compared = In->start() + Instruction;
        Result.ComparedPc = In->address(Instruction);
      }
}

void ConditionSearch::add(const Run &In, const FlowSources &From) {
  for (const FlowPiece &P : From.Pieces)
    addPiece(In, P);
  for (const FlowPiece &P : From.Conditions)
    addPiece(In, P);
}

Expected<answers::Condition> ConditionSearch::find(Timestamp T) {
  Result = {};
  Expected<Run> In = Writers.run(Writers.reader().blockAt(T), T);
  if (!In)
    return In.takeError();
  const SuperblockFlow Flow(**In);
  for (uint32_t I = 0; I < (*In)->steps().size(); ++I) {
    const SuperblockRun::Step &X = (*In)->steps()[I];
    if ((*In)->start() + X.Instruction != T ||
        (X.S.Opcode != CH_OP_EXIT && X.S.Opcode != CH_OP_NEXT) ||
        !X.S.AtomCount || !X.S.Atoms[0].IsTemp)
      continue;
    setCompared(*In, I);
    const ch_type Type = (*In)->typeOf(X.S.Atoms[0].Temp);
    FlowSources From =
        Flow.sources(X.S.Atoms[0], Type, 0, bytecode::typeSize(Type), I);
    // What the branch itself computes is the condition; its operands count.
    FlowSources Operands;
    Operands.Conditions = From.Conditions;
    for (const FlowPiece &P : From.Pieces) {
      if (P.What != FlowPiece::Computed ||
          (*In)->steps()[P.Statement].Instruction != X.Instruction) {
        Operands.Pieces.push_back(P);
        continue;
      }
      FlowSources Further = Flow.sourcesOf(P.Statement);
      append_range(Operands.Pieces, Further.Pieces);
      append_range(Operands.Conditions, Further.Conditions);
    }
    add(*In, Operands);
  }
  while (!Flags.empty()) {
    Strand S = std::move(Flags.back());
    Flags.pop_back();
    Expected<std::optional<Writer>> By = Writers.find(S);
    if (!By)
      return By.takeError();
    if (!*By)
      break;
    const Writer &W = **By;
    if (W.First)
      Flags.push_back(S.part(0, W.First));
    if (W.First + W.Size < S.Place.Size)
      Flags.push_back(
          S.part(W.First + W.Size, S.Place.Size - W.First - W.Size));
    if (!W.Run)
      continue;
    setCompared(W.Run, W.Statement + 1);
    const ValuePlace Part = S.part(W.First, W.Size).Place;
    const SuperblockFlow Older(*W.Run);
    const std::optional<FlowWrite> To = Older.writeTo(Part, W.Statement);
    if (To && To->Value)
      add(W.Run, Older.sources(*To->Value, To->Type,
                               uint32_t(Part.Address - To->To.Address),
                               Part.Size, W.Statement));
  }
  return std::move(Result);
}

} // namespace chronicle::origins
