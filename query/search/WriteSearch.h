// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds what wrote memory, and when: the blocks by the granules of the page
/// chunks, and the writes by replaying what touched those granules.

#ifndef CHRONICLE_QUERY_SEARCH_WRITESEARCH_H
#define CHRONICLE_QUERY_SEARCH_WRITESEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Ranges.h"
#include "query/answers/Write.h"
#include "query/state/StateCache.h"

namespace chronicle::search {

/// Does what Trace::writes promises. These count as writes:
/// - every store, even if it does not change the bytes;
/// - memory written for a system call, a signal and so on, but zeros over whole
///   pages only if they change something;
/// - a mapping or an unmapping that changes what the program sees in the range.
///   Its Old and New are cut to the range.
/// Memory that is mapped more than once may be written through any of its
/// addresses: the Address of a write is the one it was made through.
llvm::Error findWrites(state::StateCache &Cache, answers::AddressRange Range,
                       answers::TimeRange When, bool Backward,
                       llvm::function_ref<bool(const answers::Write &)> Visit,
                       const answers::Cancellation *Cancel);

} // namespace chronicle::search

#endif
