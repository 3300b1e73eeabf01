// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/ReplayMemory.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::machine {

ReplayMemory::ReplayMemory(PageSource &Source, BlockNumber Start,
                           bool MarksReads)
    : Source(Source), MarksReads(MarksReads), Start(Start) {}

ReplayMemory::~ReplayMemory() = default;

void ReplayMemory::reset(BlockNumber NewStart, ArrayRef<SharedRange> Ranges) {
  // A few megabytes are worth keeping for the next block.
  constexpr size_t KeptSlabs = 64;
  if (Slabs.size() > KeptSlabs)
    Slabs.resize(KeptSlabs);
  Frames.clear();
  Lent.clear();
  DirtyList.clear();
  ReadList.clear();
  Fills.clear();
  CleanFills = 0;
  Shared.reset(Ranges);
  Start = NewStart;
  flush();
}

void ReplayMemory::flush() {
  std::fill(std::begin(ReadTable), std::end(ReadTable), Entry<const uint8_t>());
  std::fill(std::begin(WriteTable), std::end(WriteTable), Entry<uint8_t>());
}

/// The bytes of the new frame are undefined.
ReplayFrame *ReplayMemory::newFrame(FrameNumber Number) {
  const size_t Place = Frames.size();
  if (Place / SlabFrames == Slabs.size())
    Slabs.emplace_back(new ReplayFrame[SlabFrames]);
  ReplayFrame *Frame = &Slabs[Place / SlabFrames][Place % SlabFrames];
  std::memset(Frame->Dirty, 0, sizeof(Frame->Dirty));
  Frame->Number = Number;
  Frame->Listed = Frame->Zeroed = Frame->ReadListed = false;
  if (MarksReads)
    std::memset(Frame->Read, 0, sizeof(Frame->Read));
  Frames[Number] = Frame;
  return Frame;
}

/// False: the frame was never written.
bool ReplayMemory::readFrom(BlockNumber N, FrameNumber Number, uint8_t *Page) {
  Expected<bool> Existed = Source.readFrame(Number, N, Page);
  if (Existed)
    return *Existed;
  std::string Text = toString(Existed.takeError());
  if (Problem.empty())
    Problem = Text;
  return true;
}

/// Marks a frame as its fills since the last clearDirty() would have.
void ReplayMemory::applyFills(ReplayFrame *Frame) {
  for (const FrameFill &F : dirtyFills()) {
    if (!F.covers(Frame->Number))
      continue;
    std::memset(Frame->Dirty, F.From ? 1 : 0, sizeof(Frame->Dirty));
    Frame->Zeroed |= !F.From;
    list(Frame);
  }
}

/// The source's own copy of a frame that is not in Frames, or null.
const uint8_t *ReplayMemory::lent(FrameNumber Number) {
  if (const uint8_t *Known = Lent.lookup(Number))
    return Known;
  if (MarksReads || lastFill(Fills, Number))
    return nullptr;
  Expected<const uint8_t *> Page = Source.lendFrame(Number, Start);
  if (!Page) {
    // Reading the frame meets the same problem, and reports it.
    consumeError(Page.takeError());
    return nullptr;
  }
  if (*Page)
    Lent[Number] = *Page;
  return *Page;
}

/// Frames that are about to change as a whole are no longer the source's.
void ReplayMemory::giveBack(FrameNumber First, FrameNumber Last) {
  bool Any = false;
  if (Last - First < Lent.size()) {
    for (FrameNumber Number = First; Number <= Last; ++Number)
      Any |= Lent.erase(Number);
  } else {
    SmallVector<FrameNumber, 16> Found;
    for (const auto &Item : Lent)
      if (Item.first >= First && Item.first <= Last)
        Found.push_back(Item.first);
    for (FrameNumber Number : Found)
      Lent.erase(Number);
    Any = !Found.empty();
  }
  if (Any)
    flush();
}

const uint8_t *ReplayMemory::toRead(FrameNumber Number) {
  if (const ReplayFrame *Known = Frames.lookup(Number))
    return Known->Bytes;
  const uint8_t *Page = lent(Number);
  return Page ? Page : frame(Number)->Bytes;
}

ReplayFrame *ReplayMemory::frame(FrameNumber Number) {
  auto It = Frames.find(Number);
  if (It != Frames.end())
    return It->second;
  if (const uint8_t *Page = lent(Number)) {
    ReplayFrame *Frame = newFrame(Number);
    std::memcpy(Frame->Bytes, Page, sizeof(Frame->Bytes));
    Lent.erase(Number);
    // The source's copy must no longer be read. A private frame is at its own
    // page; a shared one may be mapped at any.
    if (Number < SharedFrames)
      ReadTable[slot(Number << 12)] = {};
    else
      std::replace_if(
          std::begin(ReadTable), std::end(ReadTable),
          [&](auto &E) { return E.Bytes == Page; }, Entry<const uint8_t>());
    return Frame;
  }
  ReplayFrame *Frame = newFrame(Number);
  std::memset(Frame->Bytes, 0, sizeof(Frame->Bytes));
  const FrameFill *F = lastFill(Fills, Number);
  bool Existed = false;
  if (!F || F->From)
    Existed = readFrom(F ? *F->From : Start, Number, Frame->Bytes) || F;
  else
    Source.visitFrames(Number, Number, [&](FrameNumber) { Existed = true; });
  if (!Existed)
    ++Absent;
  else if (F)
    applyFills(Frame);
  return Frame;
}

void ReplayMemory::list(ReplayFrame *Frame) {
  if (Frame->Listed)
    return;
  Frame->Listed = true;
  DirtyList.push_back(Frame);
}

ReplayFrame *ReplayMemory::frameForWrite(FrameNumber Number) {
  ReplayFrame *Frame = frame(Number);
  list(Frame);
  return Frame;
}

/// The table of pages to read has nothing after clearReads(), so the first read
/// of each page comes here.
void ReplayMemory::noteRead(FrameNumber Number, size_t Offset, size_t Size) {
  ReplayFrame *Frame = Frames.lookup(Number);
  std::memset(Frame->Read + Offset / GranuleSize, 1,
              (Offset + Size - 1) / GranuleSize - Offset / GranuleSize + 1);
  if (Frame->ReadListed)
    return;
  Frame->ReadListed = true;
  ReadList.push_back(Frame);
}

void ReplayMemory::read(uint64_t Address, void *To, size_t Size) {
  auto *Bytes = static_cast<uint8_t *>(To);
  while (Size) {
    size_t Offset = Address & 4095,
           Part = std::min<size_t>(Size, 4096 - Offset);
    const uint8_t *Page = toRead(frameAt(Address));
    std::memcpy(Bytes, Page + Offset, Part);
    if (MarksReads)
      noteRead(frameAt(Address), Offset, Part);
    ReadTable[slot(Address)] = {Address >> 12, Page};
    Address += Part;
    Bytes += Part;
    Size -= Part;
  }
}

void ReplayMemory::write(uint64_t Address, const void *From, size_t Size) {
  const auto *Bytes = static_cast<const uint8_t *>(From);
  while (Size) {
    size_t Offset = Address & 4095,
           Part = std::min<size_t>(Size, 4096 - Offset);
    ReplayFrame *Frame = frameForWrite(frameAt(Address));
    std::memcpy(Frame->Bytes + Offset, Bytes, Part);
    std::memset(Frame->Dirty + Offset / 8, 1,
                (Offset + Part - 1) / 8 - Offset / 8 + 1);
    WriteTable[slot(Address)] = {Address >> 12, Frame->Bytes};
    Address += Part;
    Bytes += Part;
    Size -= Part;
  }
}

void ReplayMemory::addFill(const FrameFill &F) {
  if (Fills.size() > CleanFills && Fills.back().From == F.From &&
      Fills.back().Last + 1 == F.First)
    Fills.back().Last = F.Last;
  else
    Fills.push_back(F);
}

void ReplayMemory::zeroFrame(ReplayFrame *Frame) {
  std::memset(Frame->Bytes, 0, sizeof(Frame->Bytes));
  std::memset(Frame->Dirty, 0, sizeof(Frame->Dirty));
  Frame->Zeroed = true;
  list(Frame);
}

void ReplayMemory::zeroPages(uint64_t First, uint64_t Last) {
  giveBack(First, Last);
  if (Last - First < Frames.size()) {
    for (uint64_t Page = First; Page <= Last; ++Page)
      if (ReplayFrame *Frame = Frames.lookup(Page))
        zeroFrame(Frame);
  } else {
    for (auto &Item : Frames)
      if (Item.first >= First && Item.first <= Last)
        zeroFrame(Item.second);
  }
  addFill({First, Last, std::nullopt});
}

ArrayRef<ReplayFrame *> ReplayMemory::dirtyFrames() {
  for (const FrameFill &F : Fills) {
    if (F.From)
      for (FrameNumber Number = F.First; Number <= F.Last; ++Number)
        frame(Number);
    else // frames that were never written are zero already
      Source.visitFrames(F.First, F.Last,
                         [&](FrameNumber Number) { frame(Number); });
  }
  Fills.clear();
  CleanFills = 0;
  return DirtyList;
}

void ReplayMemory::unmapShared(uint64_t Address, uint64_t Length) {
  if (Shared.empty() || Length == 0)
    return;
  Shared.unmap(Address >> 12, (Address + Length - 1) >> 12);
  flush();
}

void ReplayMemory::mapShared(const ch_ev_map &Map) {
  unmapShared(Map.address, Map.length);
  if (!(Map.flags & CH_MAP_SHARED) || Map.length == 0)
    return;
  Shared.map({Map.address >> 12, (Map.address + Map.length - 1) >> 12,
              sharedFrame(Map.object, Map.offset)});
  flush();
}

void ReplayMemory::map(const ch_ev_map &Map) {
  mapShared(Map);
  // Growth of the main stack is reported once it has been used.
  if (Map.length && !(Map.flags & CH_MAP_STACK))
    zeroPages(Map.address >> 12, (Map.address + Map.length - 1) >> 12);
}

void ReplayMemory::unmap(uint64_t Address, uint64_t Length) {
  unmapShared(Address, Length);
  if (Length)
    zeroPages(Address >> 12, (Address + Length - 1) >> 12);
}

void ReplayMemory::zero(uint64_t Address, uint64_t Length) {
  static const uint8_t Zeros[CH_PAGE_SIZE] = {};
  const uint64_t End = Address + Length;
  const uint64_t FirstWhole = (Address + 4095) >> 12, EndWhole = End >> 12;
  if (FirstWhole >= EndWhole) {
    while (Address < End) {
      uint64_t Part = std::min(End - Address, 4096 - (Address & 4095));
      write(Address, Zeros, Part);
      Address += Part;
    }
    return;
  }
  if (Address & 4095)
    write(Address, Zeros, 4096 - (Address & 4095));
  if (Shared.empty())
    zeroPages(FirstWhole, EndWhole - 1);
  else
    for (uint64_t Page = FirstWhole; Page < EndWhole; ++Page) {
      FrameNumber Number = frameAt(Page << 12);
      zeroPages(Number, Number);
    }
  if (End & 4095)
    write(End & ~uint64_t(4095), Zeros, End & 4095);
}

void ReplayMemory::writeByReference(uint64_t Address, uint64_t Length,
                                    BlockNumber N) {
  while (Length) {
    uint64_t Offset = Address & 4095, Part = std::min(Length, 4096 - Offset);
    const FrameNumber Number = frameAt(Address);
    if (Part == CH_PAGE_SIZE && !Frames.count(Number)) {
      giveBack(Number, Number);
      addFill({Number, Number, N + 1});
    } else {
      uint8_t Page[CH_PAGE_SIZE] = {};
      readFrom(N + 1, Number, Page);
      write(Address, Page + Offset, Part);
    }
    Address += Part;
    Length -= Part;
  }
}

void ReplayMemory::clearDirty() {
  for (ReplayFrame *Frame : DirtyList) {
    std::memset(Frame->Dirty, 0, sizeof(Frame->Dirty));
    Frame->Listed = Frame->Zeroed = false;
  }
  DirtyList.clear();
  CleanFills = Fills.size();
  std::fill(std::begin(WriteTable), std::end(WriteTable), Entry<uint8_t>());
}

void ReplayMemory::clearReads() {
  for (ReplayFrame *Frame : ReadList) {
    std::memset(Frame->Read, 0, sizeof(Frame->Read));
    Frame->ReadListed = false;
  }
  ReadList.clear();
  std::fill(std::begin(ReadTable), std::end(ReadTable), Entry<const uint8_t>());
}

Error ReplayMemory::takeError() {
  if (Problem.empty())
    return Error::success();
  std::string Text = std::move(Problem);
  Problem.clear();
  return createStringError(Text);
}

} // namespace chronicle::machine
