// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Searches for events by kind and time.

#ifndef CHRONICLE_QUERY_EVENTSEARCH_H
#define CHRONICLE_QUERY_EVENTSEARCH_H

#include "query/CodeTable.h"
#include "query/StateCache.h"

namespace chronicle {

/// Events of the kinds in the mask (1 << kind), in order or newest first.
/// Blocks without such events are skipped by the directory; the others are
/// decoded, not replayed.
llvm::Error findEvents(StateCache &States, const CodeTable &Code,
                       uint64_t Kinds, TimeRange When, bool Backward,
                       llvm::function_ref<bool(const TimedEvent &)> Visit,
                       const Cancellation *Cancel);

} // namespace chronicle

#endif
