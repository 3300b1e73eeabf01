// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A range of memory that a replay is searched for.

#ifndef CHRONICLE_QUERY_SEARCH_WATCHEDRANGE_H
#define CHRONICLE_QUERY_SEARCH_WATCHEDRANGE_H

#include "query/answers/Ranges.h"
#include "query/replay/machine/ReplayMemory.h"

namespace chronicle::search {

/// A range of addresses, and where else its shared memory is mapped now.
class WatchedRange {
public:
  WatchedRange(const machine::ReplayMemory &Memory, answers::AddressRange Range)
      : Memory(Memory), Range(Range) {}

  const answers::AddressRange &range() const { return Range; }
  /// Whether any byte of [Address, Address + Size) is one of the range.
  bool overlaps(uint64_t Address, uint64_t Size) {
    if (Address <= Range.Last && Address + (Size - 1) >= Range.First)
      return true;
    return !Memory.sharedRanges().empty() && overlapsShared(Address, Size);
  }
  /// Whether an event may write the range, or change what is seen there.
  bool isTouchedBy(const Event &E);
  /// Must be called before an event takes effect: it may move shared memory.
  void event(const Event &E);

private:
  bool overlapsShared(uint64_t Address, uint64_t Size);
  void findShared();

  const machine::ReplayMemory &Memory;
  const answers::AddressRange Range;
  bool Known = false;
  /// Bytes of frames, first and last: frame * 4096 + offset.
  std::vector<std::pair<operations::UInt128, operations::UInt128>> Shared;
};

} // namespace chronicle::search

#endif
