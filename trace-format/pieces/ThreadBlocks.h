// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// In which blocks threads have a snapshot: the threads piece.
///
///   threads := (thread:u32 first-block:u32 last-block:u32 before:u32)*
///
/// Stretches of blocks in a row, sorted by thread, then block; before is how
/// many blocks the thread's stretches before this one have. Used as it lies in
/// the file.

#ifndef CHRONICLE_TRACE_FORMAT_PIECES_THREADBLOCKS_H
#define CHRONICLE_TRACE_FORMAT_PIECES_THREADBLOCKS_H

#include "trace-format/TraceData.h"
#include "llvm/ADT/DenseMap.h"

namespace chronicle::pieces {

/// Blocks in a row that have a snapshot of a thread. The threads piece is a
/// table of these as they are in memory.
struct ThreadStretch {
  uint32_t Thread;
  uint32_t First, Last; ///< blocks, both included
  uint32_t Before;      ///< blocks of the thread's stretches before
};
static_assert(sizeof(ThreadStretch) == 16);

/// The blocks of one thread, in order, as if they were a list. Everything but
/// size() is a binary search in its stretches.
class ThreadBlocks {
public:
  ThreadBlocks() = default;
  /// Of the thread, among those of all.
  ThreadBlocks(llvm::ArrayRef<ThreadStretch> All, uint32_t Thread);

  size_t size() const {
    if (Stretches.empty())
      return 0;
    const ThreadStretch &S = Stretches.back();
    return size_t(S.Before) + (S.Last - S.First + 1);
  }
  BlockNumber operator[](size_t Index) const;
  /// Returns how many are below N, which is the index of the first that is not.
  size_t countBelow(BlockNumber N) const;
  bool contains(BlockNumber N) const {
    const size_t Index = countBelow(N);
    return Index < size() && (*this)[Index] == N;
  }

private:
  llvm::ArrayRef<ThreadStretch> Stretches;
};

/// Gathers the table, block by block. Memory: 16 bytes per stretch.
class ThreadBlocksWriter {
public:
  /// Blocks come in order.
  void add(BlockNumber N, llvm::ArrayRef<uint32_t> Threads);
  size_t stretches() const { return Stretches.size(); }
  /// Of the blocks below End.
  std::vector<ThreadStretch> table(BlockNumber End) const;

private:
  std::vector<ThreadStretch> Stretches;  ///< in the order of first blocks
  llvm::DenseMap<uint32_t, size_t> Last; ///< of each thread
};

} // namespace chronicle::pieces

#endif
