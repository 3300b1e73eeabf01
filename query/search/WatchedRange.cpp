// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/search/WatchedRange.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::search {

void WatchedRange::event(const Event &E) {
  if (E.Kind == CH_EV_MAP || E.Kind == CH_EV_UNMAP)
    Known = false;
}

void WatchedRange::findShared() {
  Known = true;
  Shared.clear();
  for (const machine::ReplayMemory::SharedRange &R : Memory.sharedRanges()) {
    const uint64_t First = R.First * PageSize,
                   Last = R.Last * PageSize + (PageSize - 1);
    if (First > Range.Last || Last < Range.First)
      continue;
    const operations::UInt128 Frame = operations::UInt128(R.Frame) * PageSize;
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
    const operations::UInt128 First =
        operations::UInt128(Memory.frameAt(Address)) * PageSize + Offset;
    for (const auto &[From, To] : Shared)
      if (First <= To && First + (Part - 1) >= From)
        return true;
    Address += Part;
    Size -= Part;
  }
  return false;
}

bool WatchedRange::isTouchedBy(const Event &E) {
  auto Overlaps = [&](const auto &Fixed) {
    return Fixed && Fixed->length && overlaps(Fixed->address, Fixed->length);
  };
  switch (E.Kind) {
  case CH_EV_MEMORY:
    return Overlaps(E.as<events::MemoryEvent>());
  case CH_EV_OUTSIDE_WRITE:
    return Overlaps(E.as<events::OutsideWriteEvent>());
  case CH_EV_MAP: {
    auto M = E.as<events::MapEvent>();
    // The stack's growth only brings zeros where zeros were.
    return Overlaps(M) && !(M->flags & CH_MAP_STACK);
  }
  case CH_EV_UNMAP:
    return Overlaps(E.as<events::UnmapEvent>());
  default:
    return false;
  }
}

} // namespace chronicle::search
