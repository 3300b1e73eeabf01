// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the places of a replay that touch a range of memory.

#ifndef CHRONICLE_QUERY_SEARCH_HITFINDER_H
#define CHRONICLE_QUERY_SEARCH_HITFINDER_H

#include "query/search/WatchedRange.h"
#include "query/state/StateCursor.h"

namespace chronicle::search {

/// A place in a block's replay that touches the range: an event, or an
/// execution of a superblock with a store.
struct Hit {
  const Event *Outside; ///< null: a superblock
  Timestamp Time;       ///< of the event; of the superblock's start
  uint64_t Execution;   ///< executions complete before it
  size_t NextEvent;     ///< events before it, unless it is inside a superblock
  bool isAfter(const state::Checkpoint &C) const {
    return C.Position.Execution < Execution ||
           (C.Position.Execution == Execution &&
            C.Position.NextEvent <= NextEvent);
  }
};

/// Collects the hits of a replay, in order. It sees every store but not the
/// instruction that makes it, so fast programs will do.
class HitFinder : public machine::StoreObserver {
public:
  /// Sets the cursor's hooks and leaves them set.
  HitFinder(state::StateCursor &Cursor, answers::AddressRange Range);
  void store(uint32_t, uint64_t Address, uint32_t Size, const uint8_t *,
             const uint8_t *) override;

  std::vector<Hit> Hits;

private:
  static constexpr size_t NoEvent = ~size_t(0);
  state::StateCursor &Cursor;
  WatchedRange Watch;
};

} // namespace chronicle::search

#endif
