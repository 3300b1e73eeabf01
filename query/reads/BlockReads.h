// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The reads of one block from a range of memory.

#ifndef CHRONICLE_QUERY_READS_BLOCKREADS_H
#define CHRONICLE_QUERY_READS_BLOCKREADS_H

#include "query/answers/Cancellation.h"
#include "query/answers/Read.h"
#include "query/search/WatchedRange.h"
#include "query/state/StateCache.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace chronicle::reads {

/// Finds the reads of one block. One replay finds the superblocks that read the
/// range; forward it goes no further than the visitor wants. A second one, from
/// the checkpoint before, runs them as exact programs, which know the
/// instruction that reads.
class BlockReads {
public:
  BlockReads(state::StateCache &Cache, answers::AddressRange Range,
             answers::TimeRange When, BlockNumber N, bool Backward,
             llvm::function_ref<bool(const answers::Read &)> Visit,
             const answers::Cancellation *Cancel)
      : Cache(Cache), Range(Range), When(When), N(N), Backward(Backward),
        Visit(Visit), Cancel(Cancel) {}

  /// False: the visitor has seen enough.
  llvm::Expected<bool> visit();

private:
  llvm::Expected<bool> search(size_t Checkpoint, Timestamp Stop);
  llvm::Expected<bool> show(size_t Checkpoint,
                            llvm::ArrayRef<Timestamp> Superblocks);

  state::StateCache &Cache;
  const answers::AddressRange Range;
  const answers::TimeRange When;
  const BlockNumber N;
  const bool Backward;
  const llvm::function_ref<bool(const answers::Read &)> Visit;
  const answers::Cancellation *Cancel;
  std::shared_ptr<state::BlockHistory> History;
};

} // namespace chronicle::reads

#endif
