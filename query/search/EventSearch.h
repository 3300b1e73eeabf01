// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Searches for events by kind and time.

#ifndef CHRONICLE_QUERY_SEARCH_EVENTSEARCH_H
#define CHRONICLE_QUERY_SEARCH_EVENTSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Ranges.h"
#include "query/answers/TimedEvent.h"
#include "query/code/CodeTable.h"
#include "query/state/StateCache.h"

namespace chronicle::search {

/// Visits events of the kinds in the mask (1 << kind), in order or newest
/// first. The directory tells which blocks have none of them; the others are
/// decoded, not replayed.
llvm::Error
findEvents(state::StateCache &States, const code::CodeTable &Code,
           uint64_t Kinds, answers::TimeRange When, bool Backward,
           llvm::function_ref<bool(const answers::TimedEvent &)> Visit,
           const answers::Cancellation *Cancel);

} // namespace chronicle::search

#endif
