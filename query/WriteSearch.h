// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Who wrote memory, and when: finds the blocks by the page chunks' granules,
/// and the writes by replaying what touched those granules.

#ifndef CHRONICLE_QUERY_WRITESEARCH_H
#define CHRONICLE_QUERY_WRITESEARCH_H

#include "query/StateCache.h"

namespace chronicle {

/// As Trace::writes. What counts:
/// - every store, whatever the bytes were before;
/// - memory written for a system call, a signal and so on, but zeros over whole
///   pages only where they change something;
/// - a mapping, an unmapping: where what is seen in the range changes. Then Old
///   and New are cut to the range.
/// Memory that is mapped more than once is written through any of its
/// addresses: a write's Address is the one it was made through.
llvm::Error findWrites(StateCache &Cache, AddressRange Range, TimeRange When,
                       bool Backward,
                       llvm::function_ref<bool(const Write &)> Visit,
                       const Cancellation *Cancel);

} // namespace chronicle

#endif
