// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The writes that instructions make.

#ifndef CHRONICLE_QUERY_SEARCH_STOREWRITES_H
#define CHRONICLE_QUERY_SEARCH_STOREWRITES_H

#include "query/answers/Write.h"
#include "query/search/WatchedRange.h"
#include "query/state/StateCache.h"

namespace chronicle::search {

/// Turns stores into writes.
class StoreWrites : public machine::StoreObserver {
public:
  StoreWrites(state::StateCache &Cache, state::StateCursor &Cursor,
              WatchedRange &Watch, std::vector<answers::Write> &Found)
      : Cache(Cache), Cursor(Cursor), Watch(Watch), Found(Found) {}
  /// The program that runs must be exact.
  void store(uint32_t Instruction, uint64_t Address, uint32_t Size,
             const uint8_t *Old, const uint8_t *New) override;

private:
  state::StateCache &Cache;
  state::StateCursor &Cursor;
  WatchedRange &Watch;
  std::vector<answers::Write> &Found;
};

} // namespace chronicle::search

#endif
