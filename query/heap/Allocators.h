// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The functions that allocate and free memory.

#ifndef CHRONICLE_QUERY_HEAP_ALLOCATORS_H
#define CHRONICLE_QUERY_HEAP_ALLOCATORS_H

#include "query/symbols/Symbols.h"
#include "llvm/ADT/DenseMap.h"

namespace chronicle::heap {

/// What the arguments of a function mean, by their places.
enum class AllocatorKind : uint8_t {
  Size,         ///< (size)
  CountSize,    ///< (count, size)
  AlignSize,    ///< (alignment, size)
  Resize,       ///< (block, size)
  ResizeCount,  ///< (block, count, size)
  StoreAligned, ///< (where to store the block, alignment, size); 0 is success
  Free,         ///< (block)
};

struct AllocatorFunction {
  std::string Name; ///< as people write it: "operator new[]"
  std::string LinkageName;
  AllocatorKind Kind;
};

/// malloc and its relatives, and every form of new and delete.
std::vector<AllocatorFunction> standardAllocators();

/// "my_alloc:my_free": a function whose first argument is a size and which
/// returns the block, and one whose first argument is a block.
llvm::Expected<std::vector<AllocatorFunction>>
allocatorPair(llvm::StringRef Text);

/// Where the functions are, in every module ever loaded.
llvm::DenseMap<uint64_t, uint16_t>
allocatorEntries(const symbols::Symbols &Names,
                 llvm::ArrayRef<AllocatorFunction> Functions);

} // namespace chronicle::heap

#endif
