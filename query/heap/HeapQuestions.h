// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The heap, with call stacks.

#ifndef CHRONICLE_QUERY_HEAP_HEAPQUESTIONS_H
#define CHRONICLE_QUERY_HEAP_HEAPQUESTIONS_H

#include "query/heap/HeapHistory.h"
#include "query/questions/CallQuestions.h"

namespace chronicle::heap {

/// A call of an allocator's function, and who made it.
struct HeapCallAnswer {
  HeapCall Call;
  std::string Function; ///< "operator new"
  std::vector<questions::FrameAnswer>
      Stack; ///< innermost first, without the function
};

/// A block of the heap and an address in it, or where it was.
struct HeapAnswer {
  HeapBlock Block;
  uint64_t Offset = 0; ///< of the address in it
  bool Live = false;   ///< at the moment of the question
  HeapCallAnswer Allocated;
  std::optional<HeapCallAnswer> Freed; ///< at any time
  size_t Before = 0; ///< how many earlier blocks the address was in
  /// The first time that the block was freed again after Freed.
  std::optional<HeapCallAnswer> FreedAgain;
};

/// The heap of a run. Looks for the calls of allocators, the standard ones and
/// those of Pairs (allocatorPair()), by a pass over the blocks that have any;
/// the result is kept until the program ends. Null: it was cancelled.
llvm::Expected<std::shared_ptr<const HeapHistory>>
heapHistory(const query::Trace &T, llvm::ArrayRef<std::string> Pairs,
            const answers::IndexProgress &Progress);

/// The call stack costs what callStack() costs.
llvm::Expected<HeapCallAnswer>
heapCall(const query::Trace &T, const HeapHistory &Heap, const HeapCall &Call);

/// The block that the address is in at At or, if it is in none, was in last.
/// Nothing: it was in no block until At.
llvm::Expected<std::optional<HeapAnswer>> heapBlockAt(const query::Trace &T,
                                                      const HeapHistory &Heap,
                                                      uint64_t Address,
                                                      Timestamp At);

/// Everything about one block.
llvm::Expected<HeapAnswer> heapBlock(const query::Trace &T,
                                     const HeapHistory &Heap,
                                     const HeapBlock &Block, uint64_t Address,
                                     Timestamp At);

/// Blocks that the same call stack allocated.
struct HeapGroup {
  uint64_t Blocks = 0, Bytes = 0;
  HeapBlock Last;
  HeapCallAnswer Call; ///< that allocated Last
};

/// What is allocated at a moment.
struct LiveHeap {
  uint64_t Blocks = 0, Bytes = 0;
  std::vector<HeapGroup> Groups; ///< most bytes first
  bool Complete = true;          ///< false: cancelled; Groups lacks blocks
};

/// Costs a call stack per block that is allocated then.
llvm::Expected<LiveHeap> liveHeap(const query::Trace &T,
                                  const HeapHistory &Heap, Timestamp At,
                                  const answers::Cancellation &Cancel);

/// "0x4a2f310 is 16 bytes inside a block of 40, freed at 1,203,441 by ~Session
/// at session.cpp:88": one line, without stacks.
std::string heapLine(const HeapAnswer &A);

/// What the heap has to do with the crash that ended the run, as heapLine():
/// which block the address that could not be accessed is in, or without such an
/// address, which block the program was freeing although it was not allocated.
/// Empty: nothing is known.
llvm::Expected<std::string> crashNote(const query::Trace &T,
                                      const HeapHistory &Heap,
                                      std::optional<uint64_t> FaultAddress);

/// The innermost frame outside of system code, or the innermost one; null if
/// the stack is empty.
const questions::FrameAnswer *responsibleFrame(const HeapCallAnswer &C);

} // namespace chronicle::heap

#endif
