// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/OriginSearch.h"
#include "query/origins/SuperblockFlow.h"
#include "query/search/WriteSearch.h"
#include "query/state/Moment.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::OriginKind;
using answers::OriginStep;
using answers::ValuePlace;

static ValuePlace part(ValuePlace P, uint32_t First, uint32_t Size) {
  P.Address += First;
  P.Size = Size;
  return P;
}

OriginSearch::Strand OriginSearch::split(const Strand &S, uint32_t First,
                                         uint32_t Size) {
  auto Part = [&](uint32_t From, uint32_t Count) {
    Strand Result = S;
    Result.Place = part(S.Place, From, Count);
    Result.Value = ArrayRef(S.Value).slice(From, Count).vec();
    Result.PartOffset += From;
    return Result;
  };
  const uint32_t End = First + Size;
  if (End < S.Place.Size)
    Strands.push_back(Part(End, S.Place.Size - End));
  if (First)
    Strands.push_back(Part(0, First));
  return Part(First, Size);
}

Expected<std::shared_ptr<const SuperblockRun>> OriginSearch::run(BlockNumber N,
                                                                 Timestamp T) {
  constexpr size_t MostRecent = 16;
  Expected<std::optional<SuperblockRun>> Made =
      SuperblockRun::create(States, Code, N, T);
  if (!Made)
    return Made.takeError();
  if (!*Made)
    return createStringError("no instruction ran at that moment");
  for (const auto &Known : Recent)
    if (Known->start() == (*Made)->start())
      return Known;
  Recent.push_front(std::make_shared<const SuperblockRun>(std::move(**Made)));
  if (Recent.size() > MostRecent)
    Recent.pop_back();
  return Recent.front();
}

/// Goes on inside the execution that holds the instruction at T, which wrote
/// the strand's place.
Error OriginSearch::enter(Strand S, BlockNumber N, Timestamp T) {
  Expected<std::shared_ptr<const SuperblockRun>> Run = run(N, T);
  if (!Run)
    return Run.takeError();
  ArrayRef<SuperblockRun::Step> Steps = (*Run)->steps();
  S.Before =
      uint32_t(partition_point(Steps,
                               [&](const SuperblockRun::Step &X) {
                                 return (*Run)->start() + X.Instruction <= T;
                               }) -
               Steps.begin());
  S.Run = std::move(*Run);
  return stepInside(std::move(S));
}

/// The value of a place at a moment.
static Expected<std::vector<uint8_t>>
valueAt(state::StateCache &States, const ValuePlace &P, Timestamp T) {
  const state::Moment Then(States, T);
  if (P.InMemory) {
    Expected<answers::MemoryContents> M = Then.memory(P.Address, P.Size);
    if (!M)
      return M.takeError();
    return std::move(M->Bytes);
  }
  Expected<answers::Registers> R = Then.registers(P.Thread);
  if (!R)
    return R.takeError();
  return ArrayRef<uint8_t>(R->State).slice(P.Address, P.Size).vec();
}

Error OriginSearch::end(const Strand &S, OriginKind Kind, Timestamp Time,
                        uint32_t Thread, uint64_t Pc, uint32_t SystemCall) {
  OriginStep Step;
  Step.Time = Time;
  Step.Thread = Thread;
  Step.Pc = Pc;
  Step.ByInstruction = false;
  Step.To = S.Place;
  Step.PartOffset = S.PartOffset;
  Step.Next = S.Next;
  Step.Made = Kind;
  Step.SystemCall = SystemCall;
  if (Error E = valueAt(States, S.Place, Time).moveInto(Step.Value))
    return E;
  if (Step.Value != S.Value)
    Step.Made = OriginKind::Unknown;
  Trail.Steps.push_back(std::move(Step));
  return Error::success();
}

/// Adds the step for a statement that wrote bytes of the strand's place, and
/// the strands for where they came from.
void OriginSearch::written(const Strand &Whole, uint32_t Statement,
                           uint32_t First, uint32_t Size) {
  const SuperblockRun &Run = *Whole.Run;
  const SuperblockFlow Flow(Run);
  const uint32_t Instruction = Run.steps()[Statement].Instruction;
  Strand S = split(Whole, First, Size);
  for (const FlowWrite &W : Flow.writesOf(Statement)) {
    if (W.To.InMemory != S.Place.InMemory ||
        S.Place.Address - W.To.Address >= W.To.Size)
      continue;
    const auto From = uint32_t(S.Place.Address - W.To.Address);
    OriginStep Step;
    Step.Time = Run.start() + Instruction;
    Step.Thread = Run.thread();
    Step.Pc = Run.address(Instruction);
    Step.To = S.Place;
    Step.PartOffset = S.PartOffset;
    Step.Next = S.Next;
    if (!W.Value) {
      Step.Made = OriginKind::Helper;
      Step.Value = S.Value;
      Trail.Steps.push_back(std::move(Step));
      return;
    }
    const TempValue Value = Run.value(*W.Value, W.Type);
    Step.Value = ArrayRef(Value).slice(From, S.Place.Size).vec();
    if (Step.Value != S.Value) {
      Step.Made = OriginKind::Unknown;
      Trail.Steps.push_back(std::move(Step));
      return;
    }
    std::vector<FlowPiece> Pieces =
        Flow.pieces(*W.Value, W.Type, From, S.Place.Size, Statement);
    auto Make = [&](OriginStep &To, const FlowPiece &P) {
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
      To.Operands = Flow.operands(P.Statement);
    };
    const bool MadeHere =
        Pieces.size() == 1 && Pieces[0].What != FlowPiece::Place &&
        Run.steps()[Pieces[0].Statement].Instruction == Instruction;
    if (MadeHere)
      Make(Step, Pieces[0]);
    Trail.Steps.push_back(Step);
    if (MadeHere)
      return;
    const size_t Index = Trail.Steps.size() - 1;
    for (const FlowPiece &P : reverse(Pieces)) {
      if (P.What == FlowPiece::Place) {
        Strand Next = S;
        Next.Place = P.From;
        Next.Value = Flow.valueOf(P);
        Next.PartOffset = S.PartOffset + P.First;
        Next.Next = Index;
        Next.Before = P.Statement;
        Strands.push_back(std::move(Next));
        continue;
      }
      OriginStep Made;
      const uint32_t By = Run.steps()[P.Statement].Instruction;
      Made.Time = Run.start() + By;
      Made.Thread = Run.thread();
      Made.Pc = Run.address(By);
      Made.To = part(S.Place, P.First, 0);
      Made.PartOffset = S.PartOffset + P.First;
      Made.Value = ArrayRef(Step.Value).slice(P.First, P.Size).vec();
      Made.Next = Index;
      Make(Made, P);
      Trail.Steps.push_back(std::move(Made));
    }
    return;
  }
}

/// Looks for the write inside the superblock; otherwise before it.
Error OriginSearch::stepInside(Strand S) {
  const SuperblockFlow Flow(*S.Run);
  for (uint32_t I = S.Before; I-- > 0;)
    for (const FlowWrite &W : Flow.writesOf(I)) {
      if (W.To.InMemory != S.Place.InMemory ||
          (!S.Place.InMemory && S.Place.Thread != S.Run->thread()))
        continue;
      const uint64_t First = std::max(W.To.Address, S.Place.Address),
                     Last = std::min(W.To.Address + (W.To.Size - 1),
                                     S.Place.Address + (S.Place.Size - 1));
      if (First > Last)
        continue;
      S.Before = I; // for the bytes that it does not write
      written(S, I, uint32_t(First - S.Place.Address),
              uint32_t(Last - First + 1));
      return Error::success();
    }
  S.At = S.Run->start();
  S.Run = nullptr;
  Strands.push_back(std::move(S));
  return Error::success();
}

static OriginKind kindOf(answers::Writer By) {
  switch (By) {
  case answers::Writer::SystemCall:
    return OriginKind::SystemCall;
  case answers::Writer::Signal:
    return OriginKind::Signal;
  case answers::Writer::Mapping:
    return OriginKind::Mapping;
  case answers::Writer::Outside:
    return OriginKind::Outside;
  case answers::Writer::Instruction:
  case answers::Writer::Thread:
  case answers::Writer::Core:
    break;
  }
  return OriginKind::Startup;
}

/// The last mapping of memory over bytes of the place, after a moment up to
/// another: a mapping that brings zeros where zeros were is not a write.
const TimelineEvent *OriginSearch::mappedSince(const ValuePlace &P,
                                               Timestamp After,
                                               Timestamp Until) const {
  const ArrayRef<TimelineEvent> All = States.reader().timeline();
  const auto *It = partition_point(
      All, [&](const TimelineEvent &E) { return E.Time <= Until; });
  while (It != All.begin() && (--It)->Time > After)
    if (auto Map = It->as<events::MapEvent>();
        Map && !(Map->flags & (CH_MAP_STACK | CH_MAP_SHARED)) && Map->length &&
        Map->address <= P.Address + (P.Size - 1) &&
        Map->address + (Map->length - 1) >= P.Address)
      return It;
  return nullptr;
}

Error OriginSearch::fromMemory(Strand S) {
  std::optional<answers::Write> Found;
  const answers::AddressRange Range{S.Place.Address,
                                    S.Place.Address + (S.Place.Size - 1)};
  if (Error E = search::findWrites(
          States, Range, {0, S.At}, /*Backward=*/true,
          [&](const answers::Write &W) {
            if (W.visibleFrom() > S.At)
              return true;
            Found = W;
            return false;
          },
          Cancel))
    return E;
  if (Cancel && Cancel->Cancelled) {
    Strands.push_back(std::move(S));
    return Error::success();
  }
  if (const TimelineEvent *E =
          mappedSince(S.Place, Found ? Found->Time : 0, S.At)) {
    const auto Map = E->as<events::MapEvent>();
    const uint64_t First = std::max(S.Place.Address, Map->address),
                   Last =
                       std::min(Range.Last, Map->address + (Map->length - 1));
    return end(
        split(S, uint32_t(First - S.Place.Address), uint32_t(Last - First + 1)),
        OriginKind::NeverWritten, E->Time, Map->thread, 0);
  }
  if (!Found)
    return end(S, OriginKind::NeverWritten, S.At, 0, 0);
  if (Found->By == answers::Writer::Instruction)
    return enter(std::move(S), States.reader().blockAt(Found->Time),
                 Found->Time);
  // Shared memory may be written through another address.
  uint64_t First = S.Place.Address, Last = Range.Last;
  if (Found->Address <= Last &&
      Found->Address + (Found->New.size() - 1) >= First) {
    First = std::max(First, Found->Address);
    Last = std::min(Last, Found->Address + (Found->New.size() - 1));
  }
  const Strand Part =
      split(S, uint32_t(First - S.Place.Address), uint32_t(Last - First + 1));
  return end(Part, kindOf(Found->By), Found->visibleFrom(), Found->Thread,
             Found->Pc, Found->SystemCall);
}

/// A register that the thread never wrote. The system copied it from the thread
/// that made this one, but at a moment before this one's start that the trace
/// does not name: the way ends here.
Error OriginSearch::fromStart(const Strand &S) {
  const answers::ThreadInfo *Info = States.threads().find(S.Place.Thread);
  return end(S, OriginKind::Startup, Info ? Info->Started : 0, S.Place.Thread,
             0);
}

Error OriginSearch::fromRegister(Strand S) {
  std::optional<answers::RegisterWrite> Found;
  const answers::StateRange Bytes{uint32_t(S.Place.Address), S.Place.Size};
  // The stack of the x87 counts as written whenever a part of it is, so the
  // same place may be looked for again further back.
  if (Error E = Registers.find(
          S.Place.Thread, Bytes, {0, S.At}, /*Backward=*/true,
          [&](const answers::RegisterWrite &W) {
            if (W.visibleFrom() > S.At)
              return true;
            Found = W;
            return false;
          },
          Cancel))
    return E;
  if (Cancel && Cancel->Cancelled) {
    Strands.push_back(std::move(S));
    return Error::success();
  }
  if (!Found)
    return fromStart(S);
  if (!Found->Event)
    return enter(std::move(S), Found->Block, Found->Time);
  return end(S, kindOf(Found->By), Found->Time, Found->Thread, 0,
             Found->SystemCall);
}

Error OriginSearch::step(Strand S) {
  if (S.Run)
    return stepInside(std::move(S));
  return S.Place.InMemory ? fromMemory(std::move(S))
                          : fromRegister(std::move(S));
}

Expected<answers::OriginTrail>
OriginSearch::follow(const ValuePlace &Place, Timestamp At, uint64_t Limit) {
  Trail = {};
  Strand First;
  First.Place = Place;
  First.At = At;
  if (Error E = valueAt(States, Place, At).moveInto(First.Value))
    return E;
  Strands.push_back(std::move(First));
  while (!Strands.empty()) {
    if (Trail.Steps.size() >= Limit || (Cancel && Cancel->Cancelled)) {
      Trail.Complete = false;
      break;
    }
    Strand S = std::move(Strands.back());
    Strands.pop_back();
    if (Error E = step(std::move(S)))
      return E;
  }
  return std::move(Trail);
}

} // namespace chronicle::origins
