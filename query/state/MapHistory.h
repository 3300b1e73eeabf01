// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The memory map at any moment, from the timeline.

#ifndef CHRONICLE_QUERY_STATE_MAPHISTORY_H
#define CHRONICLE_QUERY_STATE_MAPHISTORY_H

#include "query/answers/Memory.h"
#include "query/replay/machine/ReplayMemory.h"
#include "trace-format/RecentlyUsed.h"
#include "trace-format/file/TraceReader.h"

namespace chronicle::state {

/// Making it costs one pass over the timeline, and memory in proportion to it
/// (about 18 bytes per map change, including the maps in between). A question
/// costs a binary search. The first one between two changes also costs the
/// changes since the map in between: up to 256, or four times the number of
/// regions in a large map. May be used from several threads at once.
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
  /// Sorted and disjoint.
  using Map = std::vector<Region>;

  explicit MapHistory(const file::TraceReader &Reader);

  /// The map after all changes at T. The main stack includes what it grows by
  /// anywhere in the block of T.
  std::shared_ptr<const Map> at(Timestamp T) const;
  /// The first region that ends after Address.
  static Map::const_iterator firstFrom(const Map &M, uint64_t Address);
  /// Whether the processor can fetch an instruction from there at T.
  bool isExecutable(uint64_t Address, Timestamp T) const;
  /// The same, with neighbours that look the same joined.
  std::vector<answers::Mapping> mappingsAt(Timestamp T) const;
  /// Where shared objects are mapped at the start of block N.
  std::vector<machine::ReplayMemory::SharedRange> sharedAt(BlockNumber N) const;

  /// Shared memory that is mapped at pages First to Last from some moment in
  /// block Since until some moment in block Until.
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

  const file::TraceReader &Reader;
  std::vector<uint32_t> Changes; ///< places in the timeline
  struct Saved {
    size_t Count; ///< of changes
    Map Regions;
  };
  std::vector<Saved> Maps;
  std::vector<SharedStay> Stays;
  mutable RecentlyUsed<Map, 4> Recent; ///< by the changes that made them
};

} // namespace chronicle::state

#endif
