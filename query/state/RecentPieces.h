// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Decoded pieces of the trace that questions ask for again and again: call
/// stacks, activations and executions.

#ifndef CHRONICLE_QUERY_STATE_RECENTPIECES_H
#define CHRONICLE_QUERY_STATE_RECENTPIECES_H

#include "trace-format/RecentlyUsed.h"
#include "trace-format/file/TraceReader.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace chronicle::state {

/// A hit costs a lock and a comparison, a miss decompresses and decodes the
/// piece. Each kind has a fixed number of slots. May be used from several
/// threads at once.
class RecentPieces {
public:
  using Stacks = std::vector<pieces::ThreadStacks>;

  explicit RecentPieces(const file::TraceReader &Reader) : Reader(Reader) {}

  /// The stacks of the threads that ran in the block, at its end.
  llvm::Expected<std::shared_ptr<const Stacks>> stacks(BlockNumber N);
  /// An activation by its number.
  llvm::Expected<pieces::ActivationRecord> activation(uint32_t Number);
  /// Which superblocks ran in which blocks.
  llvm::Expected<std::shared_ptr<const file::StoredExecutions>>
  executions(const ExecutionPiece &Piece);
  /// Calls Visit with which of these superblocks, which are sorted, ran in
  /// which of the reader's executionPieces(), by their places there; some may
  /// be beyond. Returns false if that is not known, as in a trace that was cut
  /// off.
  bool visitExecutionIndex(
      llvm::ArrayRef<uint32_t> Superblocks,
      llvm::function_ref<void(const pieces::ExecutionRun &)> Visit);

private:
  llvm::Expected<std::shared_ptr<const file::StoredExecutions>>
  indexPart(const ExecutionIndexPiece &Piece);

  const file::TraceReader &Reader;
  RecentlyUsed<Stacks, 8> RecentStacks;
  RecentlyUsed<std::vector<pieces::ActivationRecord>, 5> RecentActivations;
  RecentlyUsed<file::StoredExecutions, 6> RecentExecutions;
  RecentlyUsed<file::StoredExecutions, 4> RecentIndex;
};

} // namespace chronicle::state

#endif
