// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Every block of the heap: when it was allocated and freed, and by which call.

#ifndef CHRONICLE_QUERY_HEAP_HEAPHISTORY_H
#define CHRONICLE_QUERY_HEAP_HEAPHISTORY_H

#include "query/heap/Allocators.h"
#include "trace-format/TraceData.h"

namespace chronicle::heap {

/// A call of an allocator's function by the program. What such a function calls
/// itself, as operator new calls malloc, is a part of it.
struct HeapCall {
  Timestamp Time = 0; ///< at its entry
  uint32_t Thread = 0;
  uint16_t Function = 0; ///< of HeapHistory::functions()
};

struct HeapBlock {
  uint64_t Address = 0, Size = 0;
  HeapCall Allocated;
  Timestamp Since = 0; ///< when that call returned
  std::optional<HeapCall> Freed;
  /// When its memory was handed out again although nothing was seen that freed
  /// the block.
  std::optional<Timestamp> Reused;

  bool contains(uint64_t Where) const {
    return Where >= Address && Where - Address < std::max<uint64_t>(Size, 1);
  }
  /// Whether it is allocated at T.
  bool liveAt(Timestamp T) const {
    return T >= Since && (!Freed || T <= Freed->Time) &&
           (!Reused || T < *Reused);
  }
};

/// A call as the pass sees it.
struct AllocatorCall {
  HeapCall Call;
  Timestamp Returned = 0;
  bool DidReturn = false;
  uint64_t Entry = 0, ReturnAddress = 0; ///< of the function, and its caller
  uint64_t Arguments[3] = {};
  uint64_t Result = 0; ///< the new block, if it did return; 0: none
};

/// Whether an allocator calls its own function for itself. What glibc's frees
/// when a thread ends, for instance, are blocks that the program has freed
/// before: it keeps some for the thread to use again.
using IsInternal = llvm::function_ref<bool(const AllocatorCall &)>;

/// A block that was freed by the program although it was not allocated.
struct BadFree {
  HeapCall Call;
  uint64_t Address = 0;
};

class HeapHistory {
public:
  /// Calls may come in any order. Internal is asked about frees of blocks that
  /// are not allocated.
  HeapHistory(std::vector<AllocatorFunction> Functions,
              std::vector<AllocatorCall> Calls, IsInternal Internal);

  llvm::ArrayRef<AllocatorFunction> functions() const { return Functions; }
  /// All blocks, in the order in which they were allocated.
  llvm::ArrayRef<HeapBlock> blocks() const { return Blocks; }
  llvm::ArrayRef<BadFree> badFrees() const { return BadFrees; }
  /// The blocks that the address was ever in, in order of time. Costs what it
  /// finds, and the blocks that overlap with those in space.
  std::vector<const HeapBlock *> at(uint64_t Address) const;
  /// The block that the address is in at T, or was in last before T. Null: no
  /// block was there before T.
  const HeapBlock *blockAt(uint64_t Address, Timestamp T) const;

private:
  void apply(const AllocatorCall &C, bool AtEntry, IsInternal Internal);
  void allocate(const AllocatorCall &C, uint64_t Size);
  void release(const AllocatorCall &C, IsInternal Internal);

  std::vector<AllocatorFunction> Functions;
  std::vector<HeapBlock> Blocks;
  std::vector<BadFree> BadFrees;
  llvm::DenseMap<uint64_t, size_t> Live; ///< while it is made
  std::vector<uint32_t> ByAddress;       ///< blocks, sorted
  std::vector<uint64_t> HighestEnd;      ///< of ByAddress up to each
};

} // namespace chronicle::heap

#endif
