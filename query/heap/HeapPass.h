// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The pass that finds the calls of allocators.

#ifndef CHRONICLE_QUERY_HEAP_HEAPPASS_H
#define CHRONICLE_QUERY_HEAP_HEAPPASS_H

#include "query/heap/HeapHistory.h"
#include "query/passes/Pass.h"

namespace chronicle::heap {

/// A call that a block ends in the middle of.
struct OpenCall {
  AllocatorCall Call;
  uint64_t StackPointer = 0; ///< at its entry
};

/// Blocks without such a call are not replayed. Whether the call that is open
/// at the end of a block returns, and when, the caller finds out: it sets
/// Returned, DidReturn and Result.
class HeapPass : public passes::Pass {
public:
  using FindReturn = std::function<llvm::Error(OpenCall &)>;
  HeapPass(const file::TraceReader &Trace,
           std::vector<AllocatorFunction> Functions,
           llvm::DenseMap<uint64_t, uint16_t> Entries, FindReturn Find);

  passes::PassNeeds needs() const override;
  std::unique_ptr<passes::BlockObserver> start(const Block &B) override;
  llvm::Error deliver(BlockNumber N,
                      std::unique_ptr<passes::BlockObserver> Seen) override;
  /// After the pass.
  HeapHistory history(IsInternal Internal) {
    return HeapHistory(std::move(Functions), std::move(Calls), Internal);
  }

private:
  const file::TraceReader &Trace;
  std::vector<AllocatorFunction> Functions;
  const llvm::DenseMap<uint64_t, uint16_t> Entries;
  const FindReturn Find;
  std::vector<bool> Enters; ///< by superblock
  /// By thread, when the last call returned that a block ended in the middle
  /// of. Until then, all calls of the thread are parts of it.
  llvm::DenseMap<uint32_t, Timestamp> BusyUntil;
  std::vector<AllocatorCall> Calls;
};

} // namespace chronicle::heap

#endif
