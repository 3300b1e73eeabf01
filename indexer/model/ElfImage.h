// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the headers of an ELF file say, read from recorded memory, because the
/// file on disk may have changed since.

#ifndef CHRONICLE_INDEXER_MODEL_ELFIMAGE_H
#define CHRONICLE_INDEXER_MODEL_ELFIMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <string>

namespace chronicle::model {

struct ElfImage {
  uint64_t Size = 0; ///< of all that is loaded, whole pages; 0: it does not say
  /// The distance by which the file's own addresses are moved; 0 unless it is
  /// position independent.
  uint64_t Bias = 0;
  std::string BuildId; ///< hexadecimal; empty: none
};

/// Returns nothing if no 64-bit ELF file begins at Address. Read fills the
/// bytes from an address on, or returns false.
std::optional<ElfImage> readElfImage(
    uint64_t Address,
    llvm::function_ref<bool(uint64_t, llvm::MutableArrayRef<uint8_t>)> Read);

} // namespace chronicle::model

#endif
