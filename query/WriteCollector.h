// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a replay of a block writes to a range of memory: stores, and what came
/// from outside.

#ifndef CHRONICLE_QUERY_WRITECOLLECTOR_H
#define CHRONICLE_QUERY_WRITECOLLECTOR_H

#include "query/StateCache.h"

namespace chronicle {

/// The range, and where else its shared memory is mapped now.
class WatchedRange {
public:
  WatchedRange(const ReplayMemory &Memory, AddressRange Range)
      : Memory(Memory), Range(Range) {}

  const AddressRange &range() const { return Range; }
  /// Whether any byte of [Address, Address + Size) is one of the range.
  bool overlaps(uint64_t Address, uint64_t Size) {
    if (Address <= Range.Last && Address + (Size - 1) >= Range.First)
      return true;
    return !Memory.sharedRanges().empty() && overlapsShared(Address, Size);
  }
  /// An event is about to happen; it may move shared memory.
  void event(const Event &E);

private:
  bool overlapsShared(uint64_t Address, uint64_t Size);
  void findShared();

  const ReplayMemory &Memory;
  const AddressRange Range;
  bool Known = false;
  /// Bytes of frames, first and last: frame * 4096 + offset.
  std::vector<std::pair<UInt128, UInt128>> Shared;
};

/// A place in a block's replay that touches the range: an event, or a
/// superblock with a store.
struct Hit {
  const Event *Outside; ///< null: a superblock
  Timestamp Time;       ///< of the event; of the superblock's start
  uint64_t Execution;   ///< executions complete before it
  size_t NextEvent;     ///< events before it, unless a superblock is under way
  bool isAfter(const Checkpoint &C) const {
    return C.Position.Execution < Execution ||
           (C.Position.Execution == Execution &&
            C.Position.NextEvent <= NextEvent);
  }
};

/// Notes the hits of a replay, in order. Sees every store, but makes nothing of
/// it: programs stay fast ones.
class HitFinder : public StoreObserver {
public:
  /// Sets the cursor's hooks; they stay.
  HitFinder(StateCursor &Cursor, AddressRange Range);
  void store(uint32_t, uint64_t Address, uint32_t Size, const uint8_t *,
             const uint8_t *) override;

  std::vector<Hit> Hits;

private:
  static constexpr size_t NoEvent = ~size_t(0);
  StateCursor &Cursor;
  WatchedRange Watch;
};

/// Makes writes of stores.
class StoreWrites : public StoreObserver {
public:
  StoreWrites(StateCache &Cache, StateCursor &Cursor, WatchedRange &Watch,
              std::vector<Write> &Found)
      : Cache(Cache), Cursor(Cursor), Watch(Watch), Found(Found) {}
  /// The program must be exact.
  void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
             const uint8_t *Old, const uint8_t *New) override;

private:
  StateCache &Cache;
  StateCursor &Cursor;
  WatchedRange &Watch;
  std::vector<Write> &Found;
};

/// Makes writes of events, right before they happen.
class EventWrites {
public:
  EventWrites(StateCache &Cache, StateCursor &Cursor, WatchedRange &Watch,
              std::vector<Write> &Found)
      : Cache(Cache), Cursor(Cursor), Watch(Watch), Found(Found) {}
  void event(const Event &E, Timestamp T);
  /// The first thing that could not be read.
  llvm::Error takeError();

private:
  llvm::Error memory(const Event &E, Timestamp T);
  llvm::Error outside(const Event &E, Timestamp T);
  llvm::Error mapping(uint64_t Address, uint64_t Length, uint32_t Thread,
                      const ch_ev_map *Map, Timestamp T);
  llvm::Expected<bool> changes(const ch_ev_memory &M);
  llvm::Error newBytes(const ch_ev_memory &M, const Event &E,
                       llvm::MutableArrayRef<uint8_t> Into);
  llvm::Expected<uint32_t> systemCallOf(const Event &E, uint32_t Thread);
  llvm::Expected<uint64_t> pcOf(uint32_t Thread);

  StateCache &Cache;
  StateCursor &Cursor;
  WatchedRange &Watch;
  std::vector<Write> &Found;
  std::string Problem;
};

/// Makes writes of hits: replays from a checkpoint, superblocks that are hits
/// with their exact programs, which know the instruction.
class WriteMaker {
public:
  /// The cursor is at a checkpoint before the hits; they are the next ones of
  /// its checkpoint, but may begin anywhere among them.
  WriteMaker(StateCache &Cache, StateCursor Cursor, AddressRange Range,
             llvm::ArrayRef<Hit> Hits);
  bool done() const { return Next == Hits.size(); }
  /// The writes of the next hit or hits, in order; there may be none.
  llvm::Expected<std::vector<Write>> next();

private:
  void event(const Event &E, Timestamp T);

  StateCursor Cursor;
  WatchedRange Watch;
  std::vector<Write> Found;
  EventWrites Events;
  StoreWrites Stores;
  const llvm::ArrayRef<Hit> Hits;
  size_t Next = 0;
};

} // namespace chronicle

#endif
