// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Large tables of which little is used.

#ifndef CHRONICLE_TRACE_FORMAT_ZEROEDTABLE_H
#define CHRONICLE_TRACE_FORMAT_ZEROEDTABLE_H

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Memory.h"
#include <cassert>
#include <type_traits>

namespace chronicle {

/// An array of zeros from the operating system. Making one costs the same for
/// any size; only the pages that are touched take memory and time. A vector, or
/// calloc once it reuses memory, would write all of it first.
template <class T> class ZeroedTable {
  static_assert(std::is_trivially_destructible_v<T>);

public:
  ZeroedTable() = default;
  explicit ZeroedTable(size_t Count) : Count(Count) {
    if (!Count)
      return;
    std::error_code Failed;
    llvm::sys::MemoryBlock Block = llvm::sys::Memory::allocateMappedMemory(
        Count * sizeof(T), nullptr,
        llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE, Failed);
    if (Failed)
      llvm::report_bad_alloc_error("no memory for a table");
    Memory = llvm::sys::OwningMemoryBlock(Block);
  }

  size_t size() const { return Count; }
  T &operator[](size_t I) {
    assert(I < Count);
    return static_cast<T *>(Memory.base())[I];
  }

private:
  llvm::sys::OwningMemoryBlock Memory;
  size_t Count = 0;
};

} // namespace chronicle

#endif
