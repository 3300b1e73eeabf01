// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/SliceSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::OriginKind;
using answers::OriginStep;
using answers::SliceEdge;

Timestamp SliceSearch::Way::time() const {
  if (!Bytes.Run)
    return Bytes.At;
  const ArrayRef<SuperblockRun::Step> Steps = Bytes.Run->steps();
  const uint32_t At = Made ? Made->Statement : Bytes.Before;
  return Bytes.Run->start() +
         (At < Steps.size() ? Steps[At] : Steps.back()).Instruction;
}

/// What comes later: greater depth, then older, then found later.
bool SliceSearch::Way::operator<(const Way &Other) const {
  if (Depth != Other.Depth)
    return Depth > Other.Depth;
  if (time() != Other.time())
    return time() < Other.time();
  return Number > Other.Number;
}

void SliceSearch::push(Way W) {
  W.Number = Pushed++;
  Ways.push(std::move(W));
}

std::pair<size_t, bool> SliceSearch::nodeFor(const Way &W, Key K) {
  auto [It, New] = Known.try_emplace(K, Result.Nodes.size());
  const size_t Index = It->second;
  if (New) {
    Result.Nodes.emplace_back().Depth = W.Depth;
    Numbers.emplace_back();
  }
  std::vector<SliceEdge> &Edges =
      W.For ? Result.Nodes[*W.For].From : Result.Roots;
  std::vector<uint64_t> &Order = W.For ? Numbers[*W.For] : RootNumbers;
  if (any_of(Edges, [&](const SliceEdge &E) {
        return E.Node == Index && E.What == W.What;
      }))
    return {Index, New};
  // In the order of the operands, whatever order they were found in.
  const auto At = upper_bound(Order, W.Number) - Order.begin();
  Order.insert(Order.begin() + At, W.Number);
  Edges.insert(Edges.begin() + At, {Index, W.What, W.Read});
  return {Index, New};
}

Error SliceSearch::ended(const Way &W, const Writer &By) {
  const answers::ValuePlace &P = W.Bytes.Place;
  auto [Index, New] = nodeFor(
      W, {P.InMemory ? 0 : 1, By.Time, uint32_t(By.Kind), P.Address, P.Size});
  if (!New)
    return Error::success();
  OriginStep &Step = Result.Nodes[Index].Step;
  Step.Time = By.Time;
  Step.Thread = By.Thread;
  Step.Pc = By.Pc;
  Step.ByInstruction = false;
  Step.To = P;
  Step.Made = By.Kind;
  Step.SystemCall = By.SystemCall;
  if (Error E = Writers.valueAt(P, By.Time).moveInto(Step.Value))
    return E;
  if (Step.Value != W.Bytes.Value)
    Step.Made = OriginKind::Unknown;
  return Error::success();
}

/// Goes on with what a node comes from.
void SliceSearch::addSources(size_t Node, const Way &W, const FlowSources &From,
                             SliceEdge::Kind What, uint32_t Depth) {
  const SuperblockFlow Flow(*W.Bytes.Run);
  auto Add = [&](const FlowPiece &P, SliceEdge::Kind Kind, uint32_t At) {
    Way Next;
    Next.For = Node;
    Next.What = Kind;
    Next.Depth = At;
    Next.Bytes.Run = W.Bytes.Run;
    if (P.What == FlowPiece::Place) {
      Next.Read = Next.Bytes.Place = P.From;
      Next.Bytes.Value = Flow.valueOf(P);
      Next.Bytes.Before = P.Statement;
    } else {
      Next.Made = P;
      if (Kind == SliceEdge::Part)
        Next.Bytes.Value = ArrayRef(W.Bytes.Value).slice(P.First, P.Size).vec();
    }
    push(std::move(Next));
  };
  const bool Deepest = W.Depth >= Bounds.Depth;
  for (const FlowPiece &P : From.Pieces)
    if (Depth == W.Depth || !Deepest)
      Add(P, What, Depth);
  // A condition is one computation further away than the value that it chose.
  for (const FlowPiece &P : From.Conditions)
    if (!Deepest)
      Add(P, SliceEdge::Condition, W.Depth + 1);
  const bool Cut = Deepest && ((Depth != W.Depth && !From.Pieces.empty()) ||
                               !From.Conditions.empty());
  Result.Nodes[Node].Cut = Cut;
  Result.Complete &= !Cut;
}

/// What a statement made; a node of its own, whoever uses it.
void SliceSearch::made(const Way &W, const FlowPiece &P) {
  const SuperblockRun &Run = *W.Bytes.Run;
  const SuperblockFlow Flow(Run);
  // An instruction's constant is one node for each of its statements.
  auto [Index, New] = nodeFor(W, {2, Run.start(), P.Statement, P.What, 0});
  if (!New)
    return;
  OriginStep &Step = Result.Nodes[Index].Step;
  Step = Flow.stepAt(P.Statement);
  Flow.addMaker(Step, P);
  const std::optional<FlowWrite> To = Flow.writeOf(P.Statement);
  if (To) {
    Step.To = To->To;
    const TempValue V = Run.value(*To->Value, To->Type);
    Step.Value = ArrayRef(V).take_front(Step.To.Size).vec();
  } else {
    Step.Value =
        P.What == FlowPiece::Constant ? W.Bytes.Value : Flow.resultOf(P);
  }
  if (P.What == FlowPiece::Computed)
    addSources(Index, W, Flow.sourcesOf(P.Statement), SliceEdge::Operand,
               W.Depth + 1);
}

void SliceSearch::written(const Way &W, uint32_t Statement) {
  const SuperblockRun &Run = *W.Bytes.Run;
  const answers::ValuePlace &Place = W.Bytes.Place;
  const SuperblockFlow Flow(Run);
  const std::optional<FlowWrite> To = Flow.writeTo(Place, Statement);
  if (!To)
    return;
  const Key Own{3, Run.start(), Statement, Place.Address, Place.Size};
  auto Make = [&](std::optional<OriginKind> Kind) -> std::optional<size_t> {
    auto [Index, New] = nodeFor(W, Own);
    if (!New)
      return std::nullopt;
    OriginStep &Step = Result.Nodes[Index].Step;
    Step = Flow.stepAt(Statement);
    Step.To = Place;
    Step.Value = W.Bytes.Value;
    Step.Made = Kind;
    return Index;
  };
  if (!To->Value) {
    Make(OriginKind::Helper);
    return;
  }
  const auto First = uint32_t(Place.Address - To->To.Address);
  const TempValue Value = Run.value(*To->Value, To->Type);
  if (ArrayRef(Value).slice(First, Place.Size) != ArrayRef(W.Bytes.Value)) {
    Make(OriginKind::Unknown);
    return;
  }
  const FlowSources From =
      Flow.sources(*To->Value, To->Type, First, Place.Size, Statement);
  // The instruction that writes it made it, from nothing but its operands.
  if (From.Pieces.size() == 1 && From.Conditions.empty() &&
      From.Pieces[0].What != FlowPiece::Place &&
      Run.steps()[From.Pieces[0].Statement].Instruction ==
          Run.steps()[Statement].Instruction) {
    if (From.Pieces[0].What == FlowPiece::Computed)
      return made(W, From.Pieces[0]);
    if (std::optional<size_t> Node = Make(std::nullopt))
      Flow.addMaker(Result.Nodes[*Node].Step, From.Pieces[0]);
    return;
  }
  if (std::optional<size_t> Node = Make(std::nullopt))
    addSources(*Node, W, From, SliceEdge::Part, W.Depth);
}

Error SliceSearch::step(Way W) {
  if (W.Made) {
    made(W, *W.Made);
    return Error::success();
  }
  Expected<std::optional<Writer>> By = Writers.find(W.Bytes);
  if (!By)
    return By.takeError();
  if (!*By) { // cancelled
    Ways.push(std::move(W));
    return Error::success();
  }
  const uint32_t First = (*By)->First, End = First + (*By)->Size,
                 Size = W.Bytes.Place.Size;
  auto Part = [&](uint32_t From, uint32_t Count) {
    Way Result = W;
    Result.Bytes = W.Bytes.part(From, Count);
    if (Result.Read.Size) {
      Result.Read.Address += From;
      Result.Read.Size = Count;
    }
    return Result;
  };
  if (First)
    Ways.push(Part(0, First));
  if (End < Size)
    Ways.push(Part(End, Size - End));
  const Way Found = Part(First, (*By)->Size);
  if (!(*By)->Run)
    return ended(Found, **By);
  written(Found, (*By)->Statement);
  return Error::success();
}

Expected<answers::Slice> SliceSearch::follow(const answers::ValuePlace &Place,
                                             Timestamp At) {
  Way First;
  First.Bytes.Place = Place;
  First.Bytes.At = At;
  First.Read = Place;
  if (Error E = Writers.valueAt(Place, At).moveInto(First.Bytes.Value))
    return E;
  push(std::move(First));
  while (!Ways.empty()) {
    if (Result.Nodes.size() >= Bounds.Limit || Writers.cancelled()) {
      Result.Complete = false;
      break;
    }
    Way W = Ways.top();
    Ways.pop();
    if (Error E = step(std::move(W)))
      return E;
  }
  return std::move(Result);
}

} // namespace chronicle::origins
