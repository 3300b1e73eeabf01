// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds the reads of a range of memory.

#ifndef CHRONICLE_QUERY_READS_READSEARCH_H
#define CHRONICLE_QUERY_READS_READSEARCH_H

#include "query/answers/Cancellation.h"
#include "query/answers/Read.h"
#include "query/reads/ReadIndex.h"
#include "query/state/StateCache.h"

namespace chronicle::reads {

/// Does what Trace::reads promises. Every load of an instruction is a read, a
/// compare-and-swap too, whether it succeeds or not. Memory that is mapped more
/// than once may be read through any of its addresses: the Address of a read is
/// the one it was made through.
llvm::Error findReads(state::StateCache &Cache, const ReadIndex &Index,
                      answers::AddressRange Range, answers::TimeRange When,
                      bool Backward,
                      llvm::function_ref<bool(const answers::Read &)> Visit,
                      const answers::Cancellation *Cancel);

} // namespace chronicle::reads

#endif
