// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/origins/WriterSearch.h"
#include "query/origins/SuperblockFlow.h"
#include "query/search/WriteSearch.h"
#include "query/state/Moment.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::origins {

using answers::OriginKind;
using answers::ValuePlace;

Strand Strand::part(uint32_t First, uint32_t Size) const {
  Strand Result = *this;
  Result.Place.Address += First;
  Result.Place.Size = Size;
  Result.Value = ArrayRef(Value).slice(First, Size).vec();
  return Result;
}

Expected<std::shared_ptr<const SuperblockRun>> WriterSearch::run(BlockNumber N,
                                                                 Timestamp T) {
  constexpr size_t MostRecent = 64;
  for (auto It = Recent.begin(); It != Recent.end(); ++It)
    if ((*It)->contains(T)) {
      Recent.splice(Recent.begin(), Recent, It);
      return Recent.front();
    }
  Expected<std::optional<SuperblockRun>> Made =
      SuperblockRun::create(States, Code, N, T);
  if (!Made)
    return Made.takeError();
  if (!*Made)
    return createStringError("no instruction ran at that moment");
  Recent.push_front(std::make_shared<const SuperblockRun>(std::move(**Made)));
  if (Recent.size() > MostRecent)
    Recent.pop_back();
  return Recent.front();
}

/// Moves the strand into the execution that holds the instruction at T, which
/// wrote the strand's place.
Error WriterSearch::enter(Strand &S, BlockNumber N, Timestamp T) {
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
  return Error::success();
}

Expected<std::vector<uint8_t>> WriterSearch::valueAt(const ValuePlace &P,
                                                     Timestamp T) const {
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

/// Looks for the write inside the superblock; otherwise moves the strand to
/// before it.
std::optional<Writer> WriterSearch::inside(Strand &S) const {
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
      Writer Found;
      Found.First = uint32_t(First - S.Place.Address);
      Found.Size = uint32_t(Last - First + 1);
      Found.Run = S.Run;
      Found.Statement = I;
      return Found;
    }
  S.At = S.Run->start();
  S.Run = nullptr;
  return std::nullopt;
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
const TimelineEvent *WriterSearch::mappedSince(const ValuePlace &P,
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

/// Nothing: the strand is inside the execution that wrote it, or the search was
/// cancelled.
Expected<std::optional<Writer>> WriterSearch::fromMemory(Strand &S) {
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
  if (cancelled())
    return std::nullopt;
  Writer By;
  uint64_t First = S.Place.Address, Last = Range.Last;
  auto Narrow = [&](uint64_t Address, uint64_t Size) {
    First = std::max(First, Address);
    Last = std::min(Last, Address + (Size - 1));
  };
  if (const TimelineEvent *E =
          mappedSince(S.Place, Found ? Found->Time : 0, S.At)) {
    const auto Map = E->as<events::MapEvent>();
    Narrow(Map->address, Map->length);
    By.Kind = OriginKind::NeverWritten;
    By.Time = E->Time;
    By.Thread = Map->thread;
  } else if (!Found) {
    By.Kind = OriginKind::NeverWritten;
    By.Time = S.At;
  } else if (Found->By == answers::Writer::Instruction) {
    if (Error E = enter(S, States.reader().blockAt(Found->Time), Found->Time))
      return E;
    return std::nullopt;
  } else {
    // Shared memory may be written through another address.
    if (Found->Address <= Last &&
        Found->Address + (Found->New.size() - 1) >= First)
      Narrow(Found->Address, Found->New.size());
    By.Kind = kindOf(Found->By);
    By.Time = Found->visibleFrom();
    By.Thread = Found->Thread;
    By.Pc = Found->Pc;
    By.SystemCall = Found->SystemCall;
  }
  By.First = uint32_t(First - S.Place.Address);
  By.Size = uint32_t(Last - First + 1);
  return By;
}

/// As fromMemory().
Expected<std::optional<Writer>> WriterSearch::fromRegister(Strand &S) {
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
  if (cancelled())
    return std::nullopt;
  if (Found && !Found->Event) {
    if (Error E = enter(S, Found->Block, Found->Time))
      return E;
    return std::nullopt;
  }
  Writer By;
  By.Size = S.Place.Size;
  if (Found) {
    By.Kind = kindOf(Found->By);
    By.Time = Found->Time;
    By.Thread = Found->Thread;
    By.SystemCall = Found->SystemCall;
    return By;
  }
  // A register that the thread never wrote. The system copied it from the
  // thread that made this one, but at a moment before this one's start that the
  // trace does not name: the way ends here.
  const answers::ThreadInfo *Info = States.threads().find(S.Place.Thread);
  By.Kind = OriginKind::Startup;
  By.Time = Info ? Info->Started : 0;
  By.Thread = S.Place.Thread;
  return By;
}

Expected<std::optional<Writer>> WriterSearch::find(Strand &S) {
  while (!cancelled()) {
    if (S.Run) {
      if (std::optional<Writer> By = inside(S))
        return By;
      continue;
    }
    Expected<std::optional<Writer>> By =
        S.Place.InMemory ? fromMemory(S) : fromRegister(S);
    if (!By || *By)
      return By;
  }
  return std::nullopt;
}

} // namespace chronicle::origins
