// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Turns hits into writes.

#ifndef CHRONICLE_QUERY_SEARCH_WRITEMAKER_H
#define CHRONICLE_QUERY_SEARCH_WRITEMAKER_H

#include "query/search/EventWrites.h"
#include "query/search/HitFinder.h"
#include "query/search/StoreWrites.h"

namespace chronicle::search {

/// Replays from a checkpoint and turns hits into writes. A superblock that is a
/// hit runs as its exact program, which knows the instruction that stores.
class WriteMaker {
public:
  /// The cursor must be at the last checkpoint before the hits. Hits must
  /// follow each other without a gap, but hits before them may be left out.
  WriteMaker(state::StateCache &Cache, state::StateCursor Cursor,
             answers::AddressRange Range, llvm::ArrayRef<Hit> Hits);
  bool done() const { return Next == Hits.size(); }
  /// The writes of the next hit or hits, in order; there may be none.
  llvm::Expected<std::vector<answers::Write>> next();

private:
  void event(const Event &E, Timestamp T);

  state::StateCursor Cursor;
  WatchedRange Watch;
  std::vector<answers::Write> Found;
  EventWrites Events;
  StoreWrites Stores;
  const llvm::ArrayRef<Hit> Hits;
  size_t Next = 0;
};

} // namespace chronicle::search

#endif
