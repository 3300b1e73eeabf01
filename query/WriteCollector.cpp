// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/WriteCollector.h"
#include "trace-format/BlockFormat.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

void WatchedRange::event(const Event &E) {
  if (E.Kind == CH_EV_MAP || E.Kind == CH_EV_UNMAP)
    Known = false;
}

void WatchedRange::findShared() {
  Known = true;
  Shared.clear();
  for (const ReplayMemory::SharedRange &R : Memory.sharedRanges()) {
    const uint64_t First = R.First * PageSize,
                   Last = R.Last * PageSize + (PageSize - 1);
    if (First > Range.Last || Last < Range.First)
      continue;
    const UInt128 Frame = UInt128(R.Frame) * PageSize;
    Shared.emplace_back(Frame + (std::max(First, Range.First) - First),
                        Frame + (std::min(Last, Range.Last) - First));
  }
}

bool WatchedRange::overlapsShared(uint64_t Address, uint64_t Size) {
  if (!Known)
    findShared();
  if (Shared.empty())
    return false;
  while (Size) {
    const uint64_t Offset = Address % PageSize;
    const uint64_t Part = std::min<uint64_t>(Size, PageSize - Offset);
    const UInt128 First = UInt128(Memory.frameAt(Address)) * PageSize + Offset;
    for (const auto &[From, To] : Shared)
      if (First <= To && First + (Part - 1) >= From)
        return true;
    Address += Part;
    Size -= Part;
  }
  return false;
}

template <class T> static std::optional<T> fixedPart(const Event &E) {
  if (E.Payload.size() < sizeof(T))
    return std::nullopt;
  return loadValue<T>(E.Payload.data());
}

/// Whether an event may write the range, or change what is seen there.
static bool touches(const Event &E, WatchedRange &Watch) {
  auto Overlaps = [&](const auto &Fixed) {
    return Fixed && Fixed->length &&
           Watch.overlaps(Fixed->address, Fixed->length);
  };
  switch (E.Kind) {
  case CH_EV_MEMORY:
    return Overlaps(fixedPart<ch_ev_memory>(E));
  case CH_EV_OUTSIDE_WRITE:
    return Overlaps(fixedPart<ch_ev_outside_write>(E));
  case CH_EV_MAP: {
    auto M = fixedPart<ch_ev_map>(E);
    // The stack's growth brings nothing but zeros where zeros were.
    return Overlaps(M) && !(M->flags & CH_MAP_STACK);
  }
  case CH_EV_UNMAP:
    return Overlaps(fixedPart<ch_ev_range>(E));
  default:
    return false;
  }
}

HitFinder::HitFinder(StateCursor &Cursor, AddressRange Range)
    : Cursor(Cursor), Watch(Cursor.memory(), Range) {
  Cursor.replayer().Observer = this;
  Cursor.replayer().OnEvent = [this](const Event &E, Timestamp T) {
    if (touches(E, Watch)) {
      const BlockReplayer &Replayer = this->Cursor.replayer();
      const size_t Index = &E - this->Cursor.block().Events.data();
      Hits.push_back(
          {&E, T, Replayer.executions(), Replayer.canSave() ? Index : NoEvent});
    }
    Watch.event(E);
  };
}

void HitFinder::store(uint32_t, uint64_t Address, uint32_t Size,
                      const uint8_t *, const uint8_t *) {
  if (!Watch.overlaps(Address, Size))
    return;
  const BlockReplayer &Replayer = Cursor.replayer();
  const uint64_t Execution = Replayer.executions();
  // Writes from outside may have come in between.
  for (const Hit &H : reverse(Hits)) {
    if (H.Execution != Execution)
      break;
    if (!H.Outside)
      return;
  }
  Hits.push_back({nullptr, Replayer.superblockStart(), Execution, NoEvent});
}

void StoreWrites::store(uint32_t Instruction, uint64_t Address, uint32_t Size,
                        const uint8_t *Old, const uint8_t *New) {
  if (!Watch.overlaps(Address, Size))
    return;
  const BlockReplayer &Replayer = Cursor.replayer();
  const uint32_t Superblock =
      Cache.exits().superblock(Cursor.block().Symbols[Replayer.executions()]);
  Write W;
  W.Time = Replayer.superblockStart() + Instruction;
  W.Thread = Replayer.thread();
  W.By = Writer::Instruction;
  // It is running, so it is there.
  W.Pc = cantFail(Cache.programs().get(Superblock, ProgramForm::Fast))
             ->address(Instruction);
  W.Address = Address;
  W.Old.assign(Old, Old + Size);
  W.New.assign(New, New + Size);
  Found.push_back(std::move(W));
}

void EventWrites::event(const Event &E, Timestamp T) {
  if (!touches(E, Watch))
    return;
  auto Made = [&]() -> Error {
    switch (E.Kind) {
    case CH_EV_MEMORY:
      return memory(E, T);
    case CH_EV_OUTSIDE_WRITE:
      return outside(E, T);
    case CH_EV_MAP: {
      const ch_ev_map M = *fixedPart<ch_ev_map>(E);
      return mapping(M.address, M.length, M.thread, &M, T);
    }
    case CH_EV_UNMAP: {
      const ch_ev_range R = *fixedPart<ch_ev_range>(E);
      return mapping(R.address, R.length, R.thread, nullptr, T);
    }
    default:
      return Error::success();
    }
  };
  if (Error Failed = Made()) {
    std::string Text = toString(std::move(Failed));
    if (Problem.empty())
      Problem = Text;
  }
}

Error EventWrites::takeError() {
  if (Problem.empty())
    return Error::success();
  return createStringError(Problem);
}

static Writer writerOf(uint32_t Source) {
  switch (Source) {
  case CH_MEM_SYSCALL:
    return Writer::SystemCall;
  case CH_MEM_SIGNAL:
    return Writer::Signal;
  case CH_MEM_THREAD:
    return Writer::Thread;
  case CH_MEM_CORE:
    return Writer::Core;
  default: // startup, mapped
    return Writer::Mapping;
  }
}

/// The bytes of [First, Last] that are in the range; First > Last: none.
static AddressRange common(AddressRange A, AddressRange B) {
  return {std::max(A.First, B.First), std::min(A.Last, B.Last)};
}

/// Whether zeros written to memory count. Of whole pages nobody keeps a record
/// unless they change something.
Expected<bool> EventWrites::changes(const ch_ev_memory &M) {
  const uint64_t FirstWhole = alignTo(M.address, PageSize),
                 EndWhole = alignDown(M.address + M.length, PageSize);
  if (FirstWhole >= EndWhole)
    return true;
  if ((FirstWhole > M.address &&
       Watch.overlaps(M.address, FirstWhole - M.address)) ||
      (EndWhole < M.address + M.length &&
       Watch.overlaps(EndWhole, M.address + M.length - EndWhole)))
    return true;
  for (uint64_t Page = FirstWhole; Page < EndWhole; Page += PageSize) {
    if (!Watch.overlaps(Page, PageSize))
      continue;
    uint8_t Bytes[PageSize];
    if (Error E = Cursor.read(Page, Bytes))
      return E;
    for (unsigned I = 0; I < PageSize; ++I)
      if (Bytes[I] && Watch.overlaps(Page + I, 1))
        return true;
  }
  return false;
}

Error EventWrites::newBytes(const ch_ev_memory &M, const Event &E,
                            MutableArrayRef<uint8_t> Into) {
  if (M.flags & CH_MEM_ZERO) {
    std::fill(Into.begin(), Into.end(), 0);
    return Error::success();
  }
  if (!(M.flags & CH_MEM_BY_REFERENCE)) {
    if (E.Payload.size() < sizeof(M) + M.length)
      return createStringError("a damaged event");
    std::memcpy(Into.data(), E.Payload.data() + sizeof(M), Into.size());
    return Error::success();
  }
  uint64_t Address = M.address;
  while (!Into.empty()) {
    uint8_t Page[PageSize];
    const uint64_t Offset = Address % PageSize,
                   Part = std::min<uint64_t>(Into.size(), PageSize - Offset);
    if (Error Failed = Cache.reader().readFrame(
            Cursor.memory().frameAt(Address), Cursor.block().Number + 1, Page))
      return Failed;
    std::memcpy(Into.data(), Page + Offset, Part);
    Address += Part;
    Into = Into.drop_front(Part);
  }
  return Error::success();
}

Error EventWrites::memory(const Event &E, Timestamp T) {
  auto M = fixedPart<ch_ev_memory>(E);
  Write W;
  W.Time = T;
  W.Thread = M->thread;
  W.By = writerOf(M->source);
  W.Address = M->address;
  uint64_t Length = M->length;
  if (M->flags & CH_MEM_ZERO) {
    Expected<bool> Counts = changes(*M);
    if (!Counts)
      return Counts.takeError();
    if (!*Counts)
      return Error::success();
    // Clearing has no limit in size; a record with bytes has.
    AddressRange Part =
        common(Watch.range(), {M->address, M->address + (M->length - 1)});
    if (Length > CH_MEMORY_RECORD_BYTES && Part.First <= Part.Last) {
      W.Address = Part.First;
      Length = Part.Last - Part.First + 1;
    }
  }
  W.Old.resize(Length);
  W.New.resize(Length);
  if (Error Failed = Cursor.read(W.Address, W.Old))
    return Failed;
  if (Error Failed = newBytes(*M, E, W.New))
    return Failed;
  if (W.By == Writer::SystemCall) {
    Expected<uint32_t> Number = systemCallOf(E, M->thread);
    if (!Number)
      return Number.takeError();
    W.SystemCall = *Number;
  }
  Expected<uint64_t> Pc = pcOf(M->thread);
  if (!Pc)
    return Pc.takeError();
  W.Pc = *Pc;
  Found.push_back(std::move(W));
  return Error::success();
}

Error EventWrites::outside(const Event &E, Timestamp T) {
  auto O = fixedPart<ch_ev_outside_write>(E);
  if (E.Payload.size() < sizeof(*O) + O->length)
    return createStringError("a damaged event");
  Write W;
  W.Time = T;
  W.By = Writer::Outside;
  W.Address = O->address;
  W.Old.resize(O->length);
  if (Error Failed = Cursor.read(W.Address, W.Old))
    return Failed;
  const uint8_t *Bytes = E.Payload.data() + sizeof(*O);
  W.New.assign(Bytes, Bytes + O->length);
  Expected<uint64_t> Pc = pcOf(0);
  if (!Pc)
    return Pc.takeError();
  W.Pc = *Pc;
  Found.push_back(std::move(W));
  return Error::success();
}

/// What is seen at addresses of the range changes: page by page, neighbours
/// together.
Error EventWrites::mapping(uint64_t Address, uint64_t Length, uint32_t Thread,
                           const ch_ev_map *Map, Timestamp T) {
  const AddressRange Part =
      common(Watch.range(), {Address, Address + (Length - 1)});
  if (Part.First > Part.Last)
    return Error::success();
  const bool ToShared = Map && Map->flags & CH_MAP_SHARED;
  const ReplayMemory &Memory = Cursor.memory();
  Write W;
  auto Flush = [&]() -> Error {
    if (W.Old.empty())
      return Error::success();
    W.Time = T;
    W.Thread = Thread;
    W.By = Writer::Mapping;
    Expected<uint64_t> Pc = pcOf(Thread);
    if (!Pc)
      return Pc.takeError();
    W.Pc = *Pc;
    Found.push_back(std::exchange(W, Write()));
    return Error::success();
  };
  auto VisitPage = [&](uint64_t Page) -> Error {
    uint8_t Old[PageSize], New[PageSize] = {};
    if (Error E = Cursor.readFrame(Memory.frameAt(Page), Old))
      return E;
    if (ToShared)
      if (Error E = Cursor.readFrame(
              SharedFrames + (FrameNumber(Map->object) << SharedObjectShift) +
                  ((Map->offset + (Page - Address)) >> 12),
              New))
        return E;
    const uint64_t From = std::max(Part.First, Page) - Page,
                   To = std::min(Part.Last, Page + (PageSize - 1)) - Page;
    if (std::memcmp(Old + From, New + From, To - From + 1) == 0)
      return Error::success();
    if (!W.Old.empty() && W.Address + W.Old.size() != Page + From)
      if (Error E = Flush())
        return E;
    if (W.Old.empty())
      W.Address = Page + From;
    W.Old.insert(W.Old.end(), Old + From, Old + To + 1);
    W.New.insert(W.New.end(), New + From, New + To + 1);
    return Error::success();
  };

  // Only pages that were ever written can change, unless shared ones are about.
  std::vector<uint64_t> Pages;
  const uint64_t First = Part.First / PageSize, Last = Part.Last / PageSize;
  if (ToShared || any_of(Memory.sharedRanges(), [&](const auto &R) {
        return R.First <= Last && R.Last >= First;
      })) {
    for (uint64_t Page = First; Page <= Last; ++Page)
      Pages.push_back(Page);
  } else {
    TracePages(Cache.reader()).visitFrames(First, Last, [&](FrameNumber F) {
      Pages.push_back(F);
    });
  }
  for (uint64_t Page : Pages)
    if (Error E = VisitPage(Page * PageSize))
      return E;
  return Flush();
}

/// The call under way: its number is in the events around, or in the block in
/// which the thread ran last.
Expected<uint32_t> EventWrites::systemCallOf(const Event &E, uint32_t Thread) {
  auto NumberOf = [&](const Event &Other) -> std::optional<uint32_t> {
    if (Other.Kind == CH_EV_SYSCALL_ENTER) {
      auto S = fixedPart<ch_ev_syscall_enter>(Other);
      if (S && S->thread == Thread)
        return S->number;
    } else if (Other.Kind == CH_EV_SYSCALL_EXIT) {
      auto S = fixedPart<ch_ev_syscall_exit>(Other);
      if (S && S->thread == Thread)
        return S->number;
    }
    return std::nullopt;
  };
  ArrayRef<Event> Events = Cursor.block().Events;
  const size_t Place = &E - Events.data();
  for (const Event &Other : reverse(Events.take_front(Place)))
    if (auto Number = NumberOf(Other))
      return *Number;
  for (const Event &Other : Events.drop_front(Place))
    if (auto Number = NumberOf(Other))
      return *Number;
  BlockNumber N = Cursor.block().Number;
  while (auto Earlier = Cache.threads().previousBlock(Thread, N)) {
    N = *Earlier;
    constexpr uint64_t Calls =
        uint64_t(1) << CH_EV_SYSCALL_ENTER | uint64_t(1) << CH_EV_SYSCALL_EXIT;
    if (!(Cache.reader().blocks()[N].Kinds & Calls))
      continue;
    Expected<std::shared_ptr<const Block>> B = Cache.block(N);
    if (!B)
      return B.takeError();
    for (const Event &Other : reverse((*B)->Events))
      if (auto Number = NumberOf(Other))
        return *Number;
  }
  return createStringError("a system call wrote memory that never began");
}

/// Where the thread is, or the running one (0).
Expected<uint64_t> EventWrites::pcOf(uint32_t Thread) {
  const BlockReplayer &Replayer = Cursor.replayer();
  if (Thread == 0)
    Thread = Replayer.thread();
  if (const uint8_t *State = Replayer.state(Thread))
    return loadValue<uint64_t>(State + CH_OFFSET_RIP);
  std::optional<BlockNumber> Next =
      Cache.threads().nextBlock(Thread, Cursor.block().Number);
  if (!Next)
    return 0;
  Expected<std::shared_ptr<const Block>> B = Cache.block(*Next);
  if (!B)
    return B.takeError();
  for (const Event &E : (*B)->Events)
    if (snapshotThread(E.Kind, E.Payload) == Thread &&
        E.Payload.size() >= sizeof(ch_ev_snapshot) + CH_GUEST_STATE_SIZE)
      return loadValue<uint64_t>(E.Payload.data() + sizeof(ch_ev_snapshot) +
                                 CH_OFFSET_RIP);
  return 0;
}

WriteMaker::WriteMaker(StateCache &Cache, StateCursor At, AddressRange Range,
                       ArrayRef<Hit> All)
    : Cursor(std::move(At)), Watch(Cursor.memory(), Range),
      Events(Cache, Cursor, Watch, Found), Stores(Cache, Cursor, Watch, Found),
      Hits(All) {
  Cursor.replayer().OnEvent = [this](const Event &E, Timestamp T) {
    if (!done() && Hits[Next].Outside == &E) {
      Events.event(E, T);
      ++Next;
    }
    Watch.event(E);
  };
}

Expected<std::vector<Write>> WriteMaker::next() {
  const size_t Mine = Next;
  const Hit &H = Hits[Mine];
  // Otherwise a write from outside stopped inside the superblock already.
  if (Cursor.time() <= H.Time)
    if (Error E = Cursor.runTo(H.Time))
      return E;
  if (!H.Outside) {
    ++Next;
    Cursor.replayer().Observer = &Stores;
    // Stopping inside makes it run the exact program.
    if (Cursor.time() == H.Time)
      if (Error E = Cursor.runTo(H.Time + 1))
        return E;
    if (Error E = Cursor.finishSuperblock())
      return E;
    Cursor.replayer().Observer = nullptr;
  }
  assert(Next > Mine && "another replay of the block takes another way");
  Next = std::max(Next, Mine + 1);
  if (Error E = Events.takeError())
    return E;
  return std::exchange(Found, {});
}

} // namespace chronicle
