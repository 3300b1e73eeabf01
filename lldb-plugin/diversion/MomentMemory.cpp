// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/diversion/MomentMemory.h"
#include "trace-format/Stream.h"
#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>

using namespace llvm;

namespace chronicle::diversion {

/// What the process may map by itself.
static constexpr uint64_t MostAdded = 1ull << 30;
/// How far a main stack grows.
static constexpr uint64_t MostStack = 8 << 20;
/// Pages are filled in groups of this size: a fault costs more than a page.
static constexpr uint64_t Group = 4 * PageSize;

static uint64_t roundDown(uint64_t Address) { return Address & -PageSize; }
static uint64_t roundUp(uint64_t Address) {
  return (Address + PageSize - 1) & -PageSize;
}

static_assert(CH_PROT_READ == PROT_READ && CH_PROT_WRITE == PROT_WRITE &&
                  CH_PROT_EXEC == PROT_EXEC,
              "recorded permissions are those of mmap");

Expected<std::unique_ptr<MomentMemory>>
MomentMemory::create(Tracee &P, const query::Trace &T, Timestamp Time,
                     Scratch &Own) {
  std::unique_ptr<MomentMemory> Result(new MomentMemory(P, T, Time, Own));
  if (Error E = Result->start())
    return E;
  return Result;
}

bool MomentMemory::isFree(uint64_t Start, uint64_t End) const {
  auto Next = Map.lower_bound(Start);
  if (Next != Map.end() && Next->first < End)
    return false;
  return Next == Map.begin() || std::prev(Next)->second.End <= Start;
}

Error MomentMemory::choosePlace() {
  for (uint64_t Place = 0x7e8000000000; Place > 0x100000000000;
       Place -= 0x008000000000)
    if (isFree(Place, Place + Tracee::ControlSize)) {
      Control = Place;
      return P.occupy(Place);
    }
  return createStringError("the recorded program leaves no room for a call");
}

Error MomentMemory::start() {
  Expected<std::vector<answers::Mapping>> Recorded = T.map(Time);
  if (!Recorded)
    return Recorded.takeError();
  for (const answers::Mapping &M : *Recorded)
    Map[M.Address] = {M.Address + M.Length, int(M.Protection & 7),
                      /*Recorded=*/true, (M.Flags & CH_MAP_STACK) != 0,
                      (M.Flags & CH_MAP_HEAP) != 0};
  for (const auto &[Start, Area] : Own.areas())
    if (!isFree(Start, Start + Area.Bytes.size()))
      return createStringError("the recorded program uses the addresses that "
                               "a call needs for the debugger");
  std::vector<SystemCall> Calls;
  auto Reserve = [&](uint64_t Start, uint64_t End, int Protection) {
    Calls.push_back(
        {SYS_mmap,
         {Start, End - Start, uint64_t(Protection),
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
          ~uint64_t(0), 0}});
  };
  for (auto It = Map.begin(); It != Map.end();) {
    const uint64_t Start = It->first;
    uint64_t End = It->second.End;
    for (++It; It != Map.end() && It->first == End; ++It)
      End = It->second.End;
    Reserve(Start, End, PROT_NONE);
  }
  if (Error E = choosePlace())
    return E;
  for (const auto &[Start, Area] : Own.areas()) {
    Reserve(Start, Start + Area.Bytes.size(), Area.Protection);
    Map[Start] = {Start + Area.Bytes.size(), Area.Protection};
  }
  if (Error E = P.call(Calls))
    return E;
  for (const SystemCall &Each : Calls)
    if (Each.Result != int64_t(Each.Arguments[0]))
      return createStringError("the memory of the recorded program cannot be "
                               "mapped at its addresses");
  for (const auto &[Start, Area] : Own.areas())
    if (Error E = P.write(Start, Area.Bytes))
      return E;
  return Error::success();
}

MomentMemory::Regions::iterator MomentMemory::find(uint64_t Address) {
  auto It = Map.upper_bound(Address);
  if (It == Map.begin())
    return Map.end();
  --It;
  return Address < It->second.End ? It : Map.end();
}

MomentMemory::Regions::iterator MomentMemory::growing(uint64_t Address) {
  auto It = Map.upper_bound(Address);
  if (It == Map.end() || !It->second.Stack || It->first - Address > MostStack)
    return Map.end();
  return It;
}

bool MomentMemory::isPopulated(uint64_t Address) const {
  return Populated.contains(roundDown(Address));
}

bool MomentMemory::has(uint64_t Address) {
  auto It = find(Address);
  return It != Map.end() && (!It->second.Recorded || isPopulated(Address));
}

Expected<int64_t> MomentMemory::call(SystemCall Call) {
  if (Error E = P.call(MutableArrayRef(&Call, 1)))
    return E;
  return Call.Result;
}

Expected<bool> MomentMemory::populate(uint64_t Address) {
  auto It = find(Address);
  if (It == Map.end()) {
    auto Stack = growing(Address);
    if (Stack == Map.end())
      return false;
    const uint64_t Start = roundDown(Address);
    Region Grown{Stack->first, Stack->second.Protection};
    Grown.Stack = true;
    Expected<int64_t> Result = call(
        {SYS_mmap,
         {Start, Grown.End - Start, uint64_t(Grown.Protection),
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~uint64_t(0), 0}});
    if (!Result)
      return Result.takeError();
    if (*Result != int64_t(Start))
      return false;
    Map[Start] = Grown;
    return true;
  }
  if (!It->second.Recorded || !It->second.Protection || isPopulated(Address))
    return false;
  // As much of the group as this region has and the process has not.
  uint64_t Start = roundDown(Address), End = Start + PageSize;
  const uint64_t First = std::max(It->first, Address & -Group),
                 Last = std::min(It->second.End, (Address & -Group) + Group);
  while (Start > First && !isPopulated(Start - PageSize))
    Start -= PageSize;
  while (End < Last && !isPopulated(End))
    End += PageSize;
  Expected<answers::MemoryContents> Contents =
      T.memory(Start, End - Start, Time);
  if (!Contents)
    return Contents.takeError();
  Expected<int64_t> Result = call(
      {SYS_mprotect, {Start, End - Start, uint64_t(It->second.Protection)}});
  if (!Result)
    return Result.takeError();
  if (*Result)
    return createStringError("no memory is left for the call");
  if (Error E = P.write(Start, Contents->Bytes))
    return E;
  for (uint64_t Page = Start; Page < End; Page += PageSize) {
    Populated.insert(Page);
    if (Filled)
      if (Error E = Filled(Page))
        return E;
  }
  return true;
}

Expected<std::vector<uint8_t>> MomentMemory::read(uint64_t Address,
                                                  uint64_t Length) {
  std::vector<uint8_t> Result;
  while (Result.size() < Length) {
    const uint64_t At = Address + Result.size();
    auto It = find(At);
    if (It == Map.end())
      break;
    uint64_t Size = std::min(Length - Result.size(), It->second.End - At);
    if (It->second.Recorded)
      Size = std::min(Size, roundDown(At) + PageSize - At);
    if (It->second.Recorded && !isPopulated(At)) {
      Expected<answers::MemoryContents> Contents = T.memory(At, Size, Time);
      if (!Contents)
        return Contents.takeError();
      Result.insert(Result.end(), Contents->Bytes.begin(),
                    Contents->Bytes.end());
      continue;
    }
    std::vector<uint8_t> Bytes(Size);
    if (Error E = P.read(At, Bytes))
      return E;
    Result.insert(Result.end(), Bytes.begin(), Bytes.end());
  }
  return Result;
}

Error MomentMemory::write(uint64_t Address, ArrayRef<uint8_t> Bytes) {
  for (uint64_t Page = roundDown(Address); Page < Address + Bytes.size();
       Page += PageSize) {
    if (has(Page))
      continue;
    Expected<bool> There = populate(Page);
    if (!There)
      return There.takeError();
    if (!*There)
      return createStringError("no memory is mapped there at this moment");
  }
  return P.write(Address, Bytes);
}

void MomentMemory::split(uint64_t Start, uint64_t End) {
  for (uint64_t At : {Start, End}) {
    auto It = find(At);
    if (It == Map.end() || It->first == At)
      continue;
    Map[At] = It->second;
    It->second.End = At;
  }
}

bool MomentMemory::covers(uint64_t Start, uint64_t End) {
  while (Start < End) {
    auto It = find(Start);
    if (It == Map.end())
      return false;
    Start = It->second.End;
  }
  return true;
}

void MomentMemory::erase(uint64_t Start, uint64_t End) {
  split(Start, End);
  Map.erase(Map.lower_bound(Start), Map.lower_bound(End));
  // Recorded pages there are gone, whatever comes next.
  if ((End - Start) / PageSize < Populated.size())
    for (uint64_t Page = Start; Page < End; Page += PageSize)
      Populated.erase(Page);
  else
    for (uint64_t Page : std::vector(Populated.begin(), Populated.end()))
      if (Page >= Start && Page < End)
        Populated.erase(Page);
}

/// Whether a range is one that a program may change.
static bool isSane(uint64_t Address, uint64_t Length) {
  return Address % PageSize == 0 && Length && Address + Length > Address &&
         Address + Length < 0x7ffffffff000;
}

Expected<int64_t> MomentMemory::map(ArrayRef<uint64_t> A) {
  const uint64_t Length = roundUp(A[1]);
  const uint64_t Flags =
      A[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_NORESERVE | MAP_STACK |
              MAP_GROWSDOWN | MAP_32BIT);
  if (!Length || (A[2] & ~uint64_t(7)))
    return -EINVAL;
  if (Length > MostAdded || Added + Length > MostAdded)
    return -ENOMEM;
  const bool Fixed = Flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
  if (Fixed && !isSane(A[0], Length))
    return -EINVAL;
  if (Fixed && A[0] < Control + Tracee::ControlSize && A[0] + Length > Control)
    return -ENOMEM;
  Expected<int64_t> Result =
      call({SYS_mmap,
            {A[0], Length, A[2], MAP_PRIVATE | MAP_ANONYMOUS | Flags,
             ~uint64_t(0), 0}});
  if (!Result || *Result < 0)
    return Result;
  Added += Length;
  erase(*Result, *Result + Length);
  Map[*Result] = {*Result + Length, int(A[2])};
  return Result;
}

Expected<int64_t> MomentMemory::unmap(uint64_t Address, uint64_t Length) {
  Length = roundUp(Length);
  if (!isSane(Address, Length))
    return -EINVAL;
  if (Address < Control + Tracee::ControlSize && Address + Length > Control)
    return -EINVAL;
  Expected<int64_t> Result = call({SYS_munmap, {Address, Length}});
  if (Result && !*Result)
    erase(Address, Address + Length);
  return Result;
}

Expected<int64_t> MomentMemory::protect(uint64_t Address, uint64_t Length,
                                        uint64_t Protection) {
  if (!Length)
    return 0;
  Length = roundUp(Length);
  if (!isSane(Address, Length) || (Protection & ~uint64_t(7)))
    return -EINVAL;
  const uint64_t End = Address + Length;
  if (!covers(Address, End))
    return -ENOMEM;
  split(Address, End);
  std::vector<SystemCall> Calls;
  for (auto It = Map.lower_bound(Address); It != Map.lower_bound(End); ++It) {
    It->second.Protection = int(Protection);
    if (!It->second.Recorded)
      Calls.push_back(
          {SYS_mprotect, {It->first, It->second.End - It->first, Protection}});
  }
  for (uint64_t Page : Populated)
    if (Page >= Address && Page < End)
      Calls.push_back({SYS_mprotect, {Page, PageSize, Protection}});
  if (Error E = P.call(Calls))
    return E;
  for (const SystemCall &Each : Calls)
    if (Each.Result)
      return Each.Result;
  return 0;
}

Expected<int64_t> MomentMemory::advise(uint64_t Address, uint64_t Length,
                                       uint64_t Advice) {
  Length = roundUp(Length);
  if (Advice != MADV_DONTNEED || !Length)
    return 0; // only a hint
  if (!isSane(Address, Length))
    return -EINVAL;
  const uint64_t End = Address + Length;
  if (!covers(Address, End))
    return -ENOMEM;
  split(Address, End);
  std::vector<SystemCall> Calls;
  for (auto It = Map.lower_bound(Address); It != Map.lower_bound(End); ++It) {
    // New pages, which are zero: what was recorded there is gone.
    It->second.Recorded = false;
    Calls.push_back({SYS_mprotect,
                     {It->first, It->second.End - It->first,
                      uint64_t(It->second.Protection)}});
  }
  Calls.push_back({SYS_madvise, {Address, Length, MADV_DONTNEED}});
  if (Error E = P.call(Calls))
    return E;
  return Calls.back().Result;
}

Expected<int64_t> MomentMemory::setBreak(uint64_t Address) {
  auto Heap = Map.end();
  for (auto It = Map.begin(); It != Map.end(); ++It)
    if (It->second.Heap)
      Heap = It;
  if (Heap == Map.end())
    return -ENOMEM;
  const uint64_t End = Heap->second.End;
  // Less memory than there is changes nothing that a program can rely on.
  if (Address <= End)
    return Address ? Address : End;
  const uint64_t NewEnd = roundUp(Address);
  if (NewEnd - End > MostAdded - Added || !isFree(End, NewEnd))
    return End;
  Expected<int64_t> Result = call(
      {SYS_mmap,
       {End, NewEnd - End, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~uint64_t(0), 0}});
  if (!Result)
    return Result;
  if (*Result != int64_t(End))
    return End;
  Added += NewEnd - End;
  Map[End] = {NewEnd, PROT_READ | PROT_WRITE};
  Map[End].Heap = true;
  return Address;
}

Error MomentMemory::addScratch(uint64_t Start) {
  const Scratch::Area &Area = Own.areas().at(Start);
  const uint64_t End = Start + Area.Bytes.size();
  Expected<int64_t> Result =
      isFree(Start, End)
          ? call({SYS_mmap,
                  {Start, End - Start, uint64_t(Area.Protection),
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                   ~uint64_t(0), 0}})
          : Expected<int64_t>(-EEXIST);
  if (!Result)
    return Result.takeError();
  if (*Result != int64_t(Start))
    return createStringError("the program uses the addresses that a call needs "
                             "for the debugger");
  Map[Start] = {End, Area.Protection};
  return Error::success();
}

void MomentMemory::saveScratch() {
  for (auto &[Start, Area] : Own.areas()) {
    std::vector<uint8_t> Now(Area.Bytes.size());
    if (Error E = P.read(Start, Now))
      consumeError(std::move(E)); // the program has unmapped it
    else
      Area.Bytes = std::move(Now);
  }
}

} // namespace chronicle::diversion
