// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory map at any moment, from the timeline.

#ifndef CHRONICLE_QUERY_MAPAT_H
#define CHRONICLE_QUERY_MAPAT_H

#include "query/ReplayMemory.h"
#include "query/Trace.h"

namespace chronicle {

/// Making it costs one pass over the timeline, and memory in proportion to it
/// (some 16 bytes a map change, the maps in between included); asking costs a
/// binary search and a few hundred changes at most.
class MapHistory {
public:
  /// A stretch of memory mapped at once, with one protection.
  struct Region {
    uint64_t Address, Length, Offset;
    uint32_t Protection, Flags, Object;
    llvm::StringRef Path;
    uint64_t end() const { return Address + Length; }
    bool isShared() const { return Flags & CH_MAP_SHARED; }
    FrameNumber frame() const; ///< of the first page
  };
  /// Sorted, apart.
  using Map = std::vector<Region>;

  explicit MapHistory(const TraceReader &Reader);

  /// After all changes at T. The main stack has what it grows by in T's block.
  Map at(Timestamp T) const;
  /// At, with neighbours that look the same put together.
  std::vector<Mapping> mappingsAt(Timestamp T) const;
  /// Where shared objects are at the start of block N.
  std::vector<ReplayMemory::SharedRange> sharedAt(BlockNumber N) const;

  /// A stay of shared memory at pages First to Last: from Since on, until
  /// something else comes there at Until. Both are in the blocks named.
  struct SharedStay {
    uint64_t First, Last;
    FrameNumber Frame;
    BlockNumber Since, Until;
  };
  llvm::ArrayRef<SharedStay> sharedStays() const { return Stays; }

private:
  static void apply(const TimelineEvent &E, Map &M);
  Map after(size_t Count) const;
  void follow(const TimelineEvent &E, std::vector<SharedStay> &Open);

  const TraceReader &Reader;
  std::vector<uint32_t> Changes; ///< places in the timeline
  struct Saved {
    size_t Count; ///< of changes
    Map Regions;
  };
  std::vector<Saved> Maps;
  std::vector<SharedStay> Stays;
};

} // namespace chronicle

#endif
