// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The writes that come from outside the program: system calls, signals,
/// mappings, other processes.

#ifndef CHRONICLE_QUERY_SEARCH_EVENTWRITES_H
#define CHRONICLE_QUERY_SEARCH_EVENTWRITES_H

#include "query/answers/Write.h"
#include "query/search/WatchedRange.h"
#include "query/state/StateCache.h"
#include "trace-format/events/Events.h"

namespace chronicle::search {

/// Turns events into writes, right before they take effect.
class EventWrites {
public:
  EventWrites(state::StateCache &Cache, state::StateCursor &Cursor,
              WatchedRange &Watch, std::vector<answers::Write> &Found)
      : Cache(Cache), Cursor(Cursor), Watch(Watch), Found(Found) {}
  void event(const Event &E, Timestamp T);
  /// The first error of any event, once.
  llvm::Error takeError();

private:
  llvm::Error memory(const Event &E, const events::MemoryEvent &M, Timestamp T);
  llvm::Error outside(const events::OutsideWriteEvent &O, Timestamp T);
  llvm::Error mapping(uint64_t Address, uint64_t Length, uint32_t Thread,
                      const ch_ev_map *Map, Timestamp T);
  llvm::Expected<bool> changes(const ch_ev_memory &M);
  llvm::Error newBytes(const events::MemoryEvent &M,
                       llvm::MutableArrayRef<uint8_t> Into);
  llvm::Expected<uint32_t> systemCallOf(const Event &E, uint32_t Thread);
  llvm::Expected<uint64_t> pcOf(uint32_t Thread);

  state::StateCache &Cache;
  state::StateCursor &Cursor;
  WatchedRange &Watch;
  std::vector<answers::Write> &Found;
  std::string Problem;
};

} // namespace chronicle::search

#endif
