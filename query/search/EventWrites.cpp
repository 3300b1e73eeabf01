// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/EventWrites.h"
#include "query/replay/TracePages.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle::search {

void EventWrites::event(const Event &E, Timestamp T) {
  if (!Watch.isTouchedBy(E))
    return;
  auto Made = [&]() -> Error {
    if (auto M = E.as<events::MemoryEvent>())
      return memory(E, *M, T);
    if (auto O = E.as<events::OutsideWriteEvent>())
      return outside(*O, T);
    if (auto M = E.as<events::MapEvent>())
      return mapping(M->address, M->length, M->thread, &*M, T);
    if (auto R = E.as<events::UnmapEvent>())
      return mapping(R->address, R->length, R->thread, nullptr, T);
    return Error::success();
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

static answers::Writer writerOf(uint32_t Source) {
  switch (Source) {
  case CH_MEM_SYSCALL:
    return answers::Writer::SystemCall;
  case CH_MEM_SIGNAL:
    return answers::Writer::Signal;
  case CH_MEM_THREAD:
    return answers::Writer::Thread;
  case CH_MEM_CORE:
    return answers::Writer::Core;
  default: // startup, mapped
    return answers::Writer::Mapping;
  }
}

/// What two ranges have in common; First > Last if that is nothing.
static answers::AddressRange common(answers::AddressRange A,
                                    answers::AddressRange B) {
  return {std::max(A.First, B.First), std::min(A.Last, B.Last)};
}

/// Whether zeros that are written to memory count as a write. The recorder does
/// not mark whole pages that become zero as written unless that changes
/// something.
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

Error EventWrites::newBytes(const events::MemoryEvent &M,
                            MutableArrayRef<uint8_t> Into) {
  if (M.flags & CH_MEM_ZERO) {
    std::fill(Into.begin(), Into.end(), 0);
    return Error::success();
  }
  if (!(M.flags & CH_MEM_BY_REFERENCE)) {
    auto Bytes = M.bytes();
    if (!Bytes)
      return createStringError("damaged event");
    std::memcpy(Into.data(), Bytes->data(), Into.size());
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

Error EventWrites::memory(const Event &E, const events::MemoryEvent &M,
                          Timestamp T) {
  answers::Write W;
  W.Time = T;
  W.Thread = M.thread;
  W.By = writerOf(M.source);
  W.Address = M.address;
  uint64_t Length = M.length;
  if (M.flags & CH_MEM_ZERO) {
    Expected<bool> Counts = changes(M);
    if (!Counts)
      return Counts.takeError();
    if (!*Counts)
      return Error::success();
    // Clearing is not limited in size, but an event with bytes is.
    answers::AddressRange Part =
        common(Watch.range(), {M.address, M.address + (M.length - 1)});
    if (Length > CH_MEMORY_RECORD_BYTES && Part.First <= Part.Last) {
      W.Address = Part.First;
      Length = Part.Last - Part.First + 1;
    }
  }
  W.Old.resize(Length);
  W.New.resize(Length);
  if (Error Failed = Cursor.read(W.Address, W.Old))
    return Failed;
  if (Error Failed = newBytes(M, W.New))
    return Failed;
  if (W.By == answers::Writer::SystemCall) {
    Expected<uint32_t> Number = systemCallOf(E, M.thread);
    if (!Number)
      return Number.takeError();
    W.SystemCall = *Number;
  }
  Expected<uint64_t> Pc = pcOf(M.thread);
  if (!Pc)
    return Pc.takeError();
  W.Pc = *Pc;
  Found.push_back(std::move(W));
  return Error::success();
}

Error EventWrites::outside(const events::OutsideWriteEvent &O, Timestamp T) {
  answers::Write W;
  W.Time = T;
  W.By = answers::Writer::Outside;
  W.Address = O.address;
  W.Old.resize(O.length);
  if (Error Failed = Cursor.read(W.Address, W.Old))
    return Failed;
  W.New = O.bytes().vec();
  Expected<uint64_t> Pc = pcOf(0);
  if (!Pc)
    return Pc.takeError();
  W.Pc = *Pc;
  Found.push_back(std::move(W));
  return Error::success();
}

/// Adds writes where a mapping changes what the program sees in the range.
/// Changed pages that are neighbours become one write.
Error EventWrites::mapping(uint64_t Address, uint64_t Length, uint32_t Thread,
                           const ch_ev_map *Map, Timestamp T) {
  const answers::AddressRange Part =
      common(Watch.range(), {Address, Address + (Length - 1)});
  if (Part.First > Part.Last)
    return Error::success();
  const bool ToShared = Map && Map->flags & CH_MAP_SHARED;
  const machine::ReplayMemory &Memory = Cursor.memory();
  answers::Write W;
  auto Flush = [&]() -> Error {
    if (W.Old.empty())
      return Error::success();
    W.Time = T;
    W.Thread = Thread;
    W.By = answers::Writer::Mapping;
    Expected<uint64_t> Pc = pcOf(Thread);
    if (!Pc)
      return Pc.takeError();
    W.Pc = *Pc;
    Found.push_back(std::exchange(W, answers::Write()));
    return Error::success();
  };
  auto VisitPage = [&](uint64_t Page) -> Error {
    uint8_t Old[PageSize], New[PageSize] = {};
    if (Error E = Cursor.readFrame(Memory.frameAt(Page), Old))
      return E;
    if (ToShared)
      if (Error E = Cursor.readFrame(
              sharedFrame(Map->object, Map->offset + (Page - Address)), New))
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

  // Only pages that were ever written can change, unless shared ones are
  // involved.
  std::vector<uint64_t> Pages;
  const uint64_t First = Part.First / PageSize, Last = Part.Last / PageSize;
  if (ToShared || any_of(Memory.sharedRanges(), [&](const auto &R) {
        return R.First <= Last && R.Last >= First;
      })) {
    for (uint64_t Page = First; Page <= Last; ++Page)
      Pages.push_back(Page);
  } else {
    replay::TracePages(Cache.reader())
        .visitFrames(First, Last, [&](FrameNumber F) { Pages.push_back(F); });
  }
  for (uint64_t Page : Pages)
    if (Error E = VisitPage(Page * PageSize))
      return E;
  return Flush();
}

/// The number of the system call that the thread is in. It is in the events
/// around this one, or in the block in which the thread ran last.
Expected<uint32_t> EventWrites::systemCallOf(const Event &E, uint32_t Thread) {
  auto NumberOf = [&](const Event &Other) -> std::optional<uint32_t> {
    if (auto S = Other.as<events::SyscallEnterEvent>())
      if (S->thread == Thread)
        return S->number;
    if (auto S = Other.as<events::SyscallExitEvent>())
      if (S->thread == Thread)
        return S->number;
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
  return createStringError(
      "a system call wrote memory, but its start is not in the trace");
}

/// The pc of a thread; of the running one if Thread is 0.
Expected<uint64_t> EventWrites::pcOf(uint32_t Thread) {
  const replay::BlockReplayer &Replayer = Cursor.replayer();
  if (Thread == 0)
    Thread = Replayer.thread();
  if (const uint8_t *State = Replayer.state(Thread))
    return operations::loadValue<uint64_t>(State + CH_OFFSET_RIP);
  std::optional<BlockNumber> Next =
      Cache.threads().nextBlock(Thread, Cursor.block().Number);
  if (!Next)
    return 0;
  Expected<std::shared_ptr<const Block>> B = Cache.block(*Next);
  if (!B)
    return B.takeError();
  for (const Event &E : (*B)->Events)
    if (auto S = E.as<events::SnapshotEvent>(); S && S->thread == Thread)
      return S->word(CH_OFFSET_RIP);
  return 0;
}

} // namespace chronicle::search
