// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/OriginSearch.h"
#include "query/origins/SuperblockFlow.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::OriginKind;
using answers::OriginStep;

OriginSearch::Way OriginSearch::split(const Way &S, uint32_t First,
                                      uint32_t Size) {
  auto Part = [&](uint32_t From, uint32_t Count) {
    return Way{S.Bytes.part(From, Count), S.PartOffset + From, S.Next};
  };
  const uint32_t End = First + Size;
  if (End < S.Bytes.Place.Size)
    Ways.push_back(Part(End, S.Bytes.Place.Size - End));
  if (First)
    Ways.push_back(Part(0, First));
  return Part(First, Size);
}

/// Adds the step for what is no instruction.
Error OriginSearch::end(const Way &S, const Writer &By) {
  OriginStep Step;
  Step.Time = By.Time;
  Step.Thread = By.Thread;
  Step.Pc = By.Pc;
  Step.ByInstruction = false;
  Step.To = S.Bytes.Place;
  Step.PartOffset = S.PartOffset;
  Step.Next = S.Next;
  Step.Made = By.Kind;
  Step.SystemCall = By.SystemCall;
  if (Error E = Writers.valueAt(S.Bytes.Place, By.Time).moveInto(Step.Value))
    return E;
  if (Step.Value != S.Bytes.Value)
    Step.Made = OriginKind::Unknown;
  Trail.Steps.push_back(std::move(Step));
  return Error::success();
}

/// Adds the step for a statement that wrote the way's place, and the ways to
/// where it came from.
void OriginSearch::written(const Way &S, uint32_t Statement) {
  const SuperblockRun &Run = *S.Bytes.Run;
  const SuperblockFlow Flow(Run);
  const uint32_t Instruction = Run.steps()[Statement].Instruction;
  const std::optional<FlowWrite> W = Flow.writeTo(S.Bytes.Place, Statement);
  if (!W)
    return;
  const auto From = uint32_t(S.Bytes.Place.Address - W->To.Address);
  OriginStep Step = Flow.stepAt(Statement);
  Step.To = S.Bytes.Place;
  Step.PartOffset = S.PartOffset;
  Step.Next = S.Next;
  if (!W->Value) {
    Step.Made = OriginKind::Helper;
    Step.Value = S.Bytes.Value;
    Trail.Steps.push_back(std::move(Step));
    return;
  }
  const TempValue Value = Run.value(*W->Value, W->Type);
  Step.Value = ArrayRef(Value).slice(From, S.Bytes.Place.Size).vec();
  if (Step.Value != S.Bytes.Value) {
    Step.Made = OriginKind::Unknown;
    Trail.Steps.push_back(std::move(Step));
    return;
  }
  const std::vector<FlowPiece> Pieces =
      Flow.pieces(*W->Value, W->Type, From, S.Bytes.Place.Size, Statement);
  const bool MadeHere =
      Pieces.size() == 1 && Pieces[0].What != FlowPiece::Place &&
      Run.steps()[Pieces[0].Statement].Instruction == Instruction;
  if (MadeHere)
    Flow.addMaker(Step, Pieces[0]);
  Trail.Steps.push_back(Step);
  if (MadeHere)
    return;
  const size_t Index = Trail.Steps.size() - 1;
  for (const FlowPiece &P : reverse(Pieces)) {
    if (P.What == FlowPiece::Place) {
      Way Next = S;
      Next.Bytes.Place = P.From;
      Next.Bytes.Value = Flow.valueOf(P);
      Next.Bytes.Before = P.Statement;
      Next.PartOffset = S.PartOffset + P.First;
      Next.Next = Index;
      Ways.push_back(std::move(Next));
      continue;
    }
    OriginStep Made = Flow.stepAt(P.Statement);
    Made.To = S.Bytes.Place;
    Made.To.Address += P.First;
    Made.To.Size = 0;
    Made.PartOffset = S.PartOffset + P.First;
    Made.Value = ArrayRef(Step.Value).slice(P.First, P.Size).vec();
    Made.Next = Index;
    Flow.addMaker(Made, P);
    Trail.Steps.push_back(std::move(Made));
  }
}

Error OriginSearch::step(Way S) {
  Expected<std::optional<Writer>> By = Writers.find(S.Bytes);
  if (!By)
    return By.takeError();
  if (!*By) { // cancelled
    Ways.push_back(std::move(S));
    return Error::success();
  }
  const Way Part = split(S, (*By)->First, (*By)->Size);
  if (!(*By)->Run)
    return end(Part, **By);
  written(Part, (*By)->Statement);
  return Error::success();
}

Expected<answers::OriginTrail>
OriginSearch::follow(const answers::ValuePlace &Place, Timestamp At,
                     uint64_t Limit) {
  Trail = {};
  Way First;
  First.Bytes.Place = Place;
  First.Bytes.At = At;
  if (Error E = Writers.valueAt(Place, At).moveInto(First.Bytes.Value))
    return E;
  Ways.push_back(std::move(First));
  while (!Ways.empty()) {
    if (Trail.Steps.size() >= Limit || Writers.cancelled()) {
      Trail.Complete = false;
      break;
    }
    Way S = std::move(Ways.back());
    Ways.pop_back();
    if (Error E = step(std::move(S)))
      return E;
  }
  return std::move(Trail);
}

} // namespace chronicle::origins
