// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/BlockHistory.h"
#include "query/replay/TracePages.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::state {

/// About what an entry of a hash table and its page take.
static constexpr uint64_t PageCost = PageSize + 48;

BlockHistory::BlockHistory(
    const file::TraceReader &Reader, Block Decoded,
    std::vector<machine::ReplayMemory::SharedRange> Shared,
    std::atomic<uint64_t> &Total)
    : Reader(Reader), B(std::move(Decoded)), Total(Total) {
  auto Start = std::make_unique<Checkpoint>();
  Start->Position.Time = B.First;
  Start->Position.OpaqueLeft = B.Opaque.size();
  Start->Shared = std::move(Shared);
  Checkpoints.push_back(std::move(Start));
  uint64_t Size = sizeof(*this) + B.Symbols.capacity() * 4 +
                  B.Events.capacity() * sizeof(Event) + B.Opaque.size();
  for (const Event &E : B.Events)
    Size += E.Payload.size();
  grow(Size);
}

BlockHistory::~BlockHistory() { Total -= Bytes; }

void BlockHistory::grow(uint64_t By) {
  Bytes += By;
  Total += By;
}

size_t BlockHistory::checkpoints() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Checkpoints.size();
}

const Checkpoint &BlockHistory::checkpoint(size_t I) const {
  std::lock_guard<std::mutex> Guard(Lock);
  return *Checkpoints[I];
}

size_t BlockHistory::checkpointBefore(Timestamp T) const {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = partition_point(
      Checkpoints, [&](const auto &C) { return C->Position.Time <= T; });
  return It == Checkpoints.begin() ? 0 : It - Checkpoints.begin() - 1;
}

bool BlockHistory::complete() const {
  std::lock_guard<std::mutex> Guard(Lock);
  return Complete;
}

bool BlockHistory::addCheckpoint(size_t After,
                                 const replay::BlockReplayer &Replayer,
                                 const machine::ReplayMemory &Memory) {
  auto New = std::make_unique<Checkpoint>();
  New->Position = Replayer.save();
  New->Shared = Memory.sharedRanges().vec();
  New->Fills = Memory.dirtyFills().vec();
  const ArrayRef<machine::ReplayFrame *> Dirty = Memory.touchedDirtyFrames();
  New->Pages = std::make_unique_for_overwrite<PageBytes[]>(Dirty.size());
  PageBytes *Next = New->Pages.get();
  for (const machine::ReplayFrame *Frame : Dirty) {
    Checkpoint::Change C;
    C.Page = Next->data();
    std::memcpy(Next++->data(), Frame->Bytes, PageSize);
    Frame->dirtyGranules(C.Granules);
    C.Zeroed = Frame->Zeroed;
    New->Changes.try_emplace(Frame->Number, C);
  }
  const uint64_t Size =
      sizeof(Checkpoint) + New->Fills.size() * sizeof(machine::FrameFill) +
      New->Changes.size() * (PageCost + 80) +
      New->Position.States.size() * sizeof(replay::GuestState) +
      New->Shared.size() * sizeof(machine::ReplayMemory::SharedRange);
  std::lock_guard<std::mutex> Guard(Lock);
  if (Complete || Checkpoints.size() != After + 1)
    return false;
  Complete = New->Position.Execution == B.Symbols.size() &&
             New->Position.NextEvent == B.Events.size();
  Checkpoints.push_back(std::move(New));
  grow(Size);
  return true;
}

Expected<bool> BlockHistory::readFilled(const machine::FrameFill &Fill,
                                        FrameNumber Frame,
                                        uint8_t *Page) const {
  if (Fill.From)
    return replay::TracePages(Reader).readFrame(Frame, *Fill.From, Page);
  std::memset(Page, 0, PageSize);
  return true;
}

/// The caller holds the lock.
std::optional<const uint8_t *>
BlockHistory::findPage(FrameNumber Frame, size_t I,
                       const machine::FrameFill *&Fill) const {
  Fill = nullptr;
  for (size_t C = I; C > 0; --C) {
    auto It = Checkpoints[C]->Changes.find(Frame);
    if (It != Checkpoints[C]->Changes.end())
      return It->second.Page;
    Fill = machine::lastFill(Checkpoints[C]->Fills, Frame);
    if (Fill)
      return std::nullopt;
  }
  auto It = Pages.find(Frame);
  if (It == Pages.end())
    return std::nullopt;
  return It->second;
}

Expected<bool> BlockHistory::readFrame(FrameNumber Frame, size_t I,
                                       uint8_t *Page) {
  const machine::FrameFill *Fill;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (std::optional<const uint8_t *> Known = findPage(Frame, I, Fill)) {
      if (*Known)
        std::memcpy(Page, *Known, PageSize);
      return *Known != nullptr;
    }
  }
  if (Fill)
    return readFilled(*Fill, Frame, Page);
  return replay::TracePages(Reader).readFrame(Frame, B.Number, Page);
}

Expected<const uint8_t *> BlockHistory::page(FrameNumber Frame, size_t I) {
  const machine::FrameFill *Fill;
  PageBytes *Page;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (std::optional<const uint8_t *> Known = findPage(Frame, I, Fill))
      return *Known;
    if (Fill)
      return nullptr;
    // Takes a place for the page. The place is wasted if the page was never
    // written, or if another thread reads it at the same time.
    if (SlabUsed == SlabPages) {
      Slabs.emplace_back(new PageBytes[SlabPages]);
      SlabUsed = 0;
      grow(SlabPages * PageCost);
    }
    Page = &Slabs.back()[SlabUsed++];
  }
  Expected<bool> Existed =
      replay::TracePages(Reader).readFrame(Frame, B.Number, Page->data());
  if (!Existed)
    return Existed.takeError();
  std::lock_guard<std::mutex> Guard(Lock);
  return Pages.try_emplace(Frame, *Existed ? Page->data() : nullptr)
      .first->second;
}

} // namespace chronicle::state
