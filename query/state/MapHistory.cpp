// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/MapHistory.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::state {

FrameNumber MapHistory::Region::frame() const {
  return isShared() ? sharedFrame(Object, Offset) : Address >> 12;
}

MapHistory::Map::const_iterator MapHistory::firstFrom(const Map &M,
                                                      uint64_t Address) {
  return partition_point(M,
                         [&](const Region &R) { return R.end() <= Address; });
}

/// The same, to change it.
static MapHistory::Map::iterator firstIn(MapHistory::Map &M, uint64_t Address) {
  return M.begin() + (MapHistory::firstFrom(M, Address) - M.cbegin());
}

/// Splits the region that Address is inside of, if any.
static void splitAt(MapHistory::Map &M, uint64_t Address) {
  auto It = firstIn(M, Address);
  if (It == M.end() || It->Address >= Address)
    return;
  MapHistory::Region Upper = *It;
  const uint64_t Lower = Address - It->Address;
  It->Length = Lower;
  Upper.Address = Address;
  Upper.Length -= Lower;
  Upper.Offset += Lower;
  M.insert(std::next(It), Upper);
}

static std::pair<size_t, size_t> cut(MapHistory::Map &M, uint64_t Address,
                                     uint64_t Length) {
  splitAt(M, Address);
  splitAt(M, Address + Length);
  auto First = firstIn(M, Address), Last = First;
  while (Last != M.end() && Last->Address < Address + Length)
    ++Last;
  return {First - M.begin(), Last - M.begin()};
}

void MapHistory::apply(const TimelineEvent &E, Map &M) {
  auto Cut = [&](uint64_t Address, uint64_t Length) {
    return Length ? cut(M, Address, Length) : std::pair<size_t, size_t>(0, 0);
  };
  auto Remove = [&](uint64_t Address, uint64_t Length) {
    auto [First, Last] = Cut(Address, Length);
    M.erase(M.begin() + First, M.begin() + Last);
    return First;
  };
  if (auto New = E.as<events::MapEvent>()) {
    if (New->length == 0)
      return;
    const size_t Place = Remove(New->address, New->length);
    M.insert(M.begin() + Place,
             {New->address, New->length, New->offset, New->protection,
              New->flags, New->object, New->path()});
  } else if (auto Gone = E.as<events::UnmapEvent>()) {
    Remove(Gone->address, Gone->length);
  } else if (auto Changed = E.as<events::ProtectEvent>()) {
    auto [First, Last] = Cut(Changed->address, Changed->length);
    for (size_t I = First; I < Last; ++I)
      M[I].Protection = Changed->protection;
  }
}

void MapHistory::follow(const TimelineEvent &E, std::vector<SharedStay> &Open) {
  uint64_t Address, Length;
  const auto New = E.as<events::MapEvent>();
  if (New) {
    Address = New->address;
    Length = New->length;
  } else if (auto Range = E.as<events::UnmapEvent>()) {
    Address = Range->address;
    Length = Range->length;
  } else {
    return;
  }
  if (Length == 0)
    return;
  const uint64_t First = Address >> 12, Last = (Address + Length - 1) >> 12;
  auto Touches = [&](const SharedStay &S) {
    return S.First <= Last && S.Last >= First;
  };
  const bool IsShared = New && New->isShared();
  if (!IsShared && none_of(Open, Touches))
    return;
  std::vector<SharedStay> Kept;
  for (const SharedStay &S : Open) {
    if (!Touches(S)) {
      Kept.push_back(S);
      continue;
    }
    if (S.First < First)
      Kept.push_back({S.First, First - 1, S.Frame, S.Since, S.Until});
    if (S.Last > Last)
      Kept.push_back(
          {Last + 1, S.Last, S.Frame + (Last + 1 - S.First), S.Since, S.Until});
    const uint64_t From = std::max(S.First, First), To = std::min(S.Last, Last);
    Stays.push_back({From, To, S.Frame + (From - S.First), S.Since, E.Block});
  }
  if (IsShared)
    Kept.push_back({First, Last, sharedFrame(New->object, New->offset), E.Block,
                    ~BlockNumber(0)});
  Open = std::move(Kept);
}

MapHistory::MapHistory(const file::TraceReader &Reader) : Reader(Reader) {
  ArrayRef<TimelineEvent> Timeline = Reader.timeline();
  Map M;
  std::vector<SharedStay> Open;
  for (size_t I = 0; I < Timeline.size(); ++I) {
    const TimelineEvent &E = Timeline[I];
    if (E.Kind != CH_EV_MAP && E.Kind != CH_EV_UNMAP && E.Kind != CH_EV_PROTECT)
      continue;
    Changes.push_back(static_cast<uint32_t>(I));
    apply(E, M);
    follow(E, Open);
    // Saves a map every so many changes, fewer the larger the map is, so that
    // all maps together are never much larger than the timeline.
    const size_t Since =
        Changes.size() - (Maps.empty() ? 0 : Maps.back().Count);
    if (Since >= std::max<size_t>(256, 4 * M.size()))
      Maps.push_back({Changes.size(), M});
  }
  Stays.insert(Stays.end(), Open.begin(), Open.end());
}

MapHistory::Map MapHistory::after(size_t Count) const {
  auto It =
      partition_point(Maps, [&](const Saved &S) { return S.Count <= Count; });
  Map M;
  size_t Done = 0;
  if (It != Maps.begin()) {
    M = std::prev(It)->Regions;
    Done = std::prev(It)->Count;
  }
  for (; Done < Count; ++Done)
    apply(Reader.timeline()[Changes[Done]], M);
  return M;
}

std::shared_ptr<const MapHistory::Map> MapHistory::at(Timestamp T) const {
  ArrayRef<TimelineEvent> Timeline = Reader.timeline();
  const size_t Count =
      partition_point(Changes,
                      [&](uint32_t I) { return Timeline[I].Time <= T; }) -
      Changes.begin();
  // The growth of the main stack is logged after a stretch of client code has
  // used it, and holds from the start of its block.
  const BlockNumber N = Reader.blockAt(T);
  SmallVector<uint32_t, 4> Growth;
  for (size_t I = Count; I < Changes.size(); ++I) {
    const TimelineEvent &E = Timeline[Changes[I]];
    if (E.Block > N)
      break;
    if (auto New = E.as<events::MapEvent>(); New && New->flags & CH_MAP_STACK)
      Growth.push_back(Changes[I]);
  }
  // With the number of changes, the last one tells which growth there is.
  const uint64_t Key = Count | uint64_t(Growth.empty() ? 0 : Growth.back() + 1)
                                   << 32;
  if (std::shared_ptr<const Map> Known = Recent.find(Key))
    return Known;
  Map M = after(Count);
  for (uint32_t I : Growth)
    apply(Timeline[I], M);
  return Recent.add(Key, std::move(M));
}

bool MapHistory::isExecutable(uint64_t Address, Timestamp T) const {
  std::shared_ptr<const Map> M = at(T);
  auto It = firstFrom(*M, Address);
  return It != M->end() && It->Address <= Address &&
         It->Protection & CH_PROT_EXEC;
}

static bool continues(const answers::Mapping &M, const MapHistory::Region &R) {
  // A mapping may continue one that was there from the start.
  const uint32_t Compared = ~uint32_t(CH_MAP_STARTUP);
  return M.Address + M.Length == R.Address && M.Protection == R.Protection &&
         (M.Flags & Compared) == (R.Flags & Compared) && M.Object == R.Object &&
         M.Path == R.Path &&
         (!(R.Flags & (CH_MAP_FILE | CH_MAP_SHARED)) ||
          M.Offset + M.Length == R.Offset);
}

std::vector<answers::Mapping> MapHistory::mappingsAt(Timestamp T) const {
  std::vector<answers::Mapping> Result;
  std::shared_ptr<const Map> M = at(T);
  for (const Region &R : *M) {
    if (!Result.empty() && continues(Result.back(), R)) {
      Result.back().Length += R.Length;
      continue;
    }
    answers::Mapping New;
    New.Address = R.Address;
    New.Length = R.Length;
    New.Offset = R.Flags & (CH_MAP_FILE | CH_MAP_SHARED) ? R.Offset : 0;
    New.Protection = R.Protection;
    New.Flags = R.Flags;
    New.Object = R.Object;
    New.Path = R.Path.str();
    Result.push_back(std::move(New));
  }
  return Result;
}

std::vector<machine::ReplayMemory::SharedRange>
MapHistory::sharedAt(BlockNumber N) const {
  std::vector<machine::ReplayMemory::SharedRange> Result;
  if (Stays.empty())
    return Result;
  ArrayRef<TimelineEvent> Timeline = Reader.timeline();
  size_t Count =
      partition_point(Changes,
                      [&](uint32_t I) { return Timeline[I].Block < N; }) -
      Changes.begin();
  for (const Region &R : after(Count))
    if (R.isShared())
      Result.push_back({R.Address >> 12, (R.end() - 1) >> 12, R.frame()});
  return Result;
}

} // namespace chronicle::state
