// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What the headers of an ELF file say, read from recorded memory: the file on
/// disk may be another by now.

#ifndef CHRONICLE_TRACE_FORMAT_ELFIMAGE_H
#define CHRONICLE_TRACE_FORMAT_ELFIMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <string>

namespace chronicle {

struct ElfImage {
  uint64_t Size = 0; ///< of all that is loaded, whole pages; 0: it does not say
  /// What the file's own addresses are moved by: 0 unless it is position
  /// independent.
  uint64_t Bias = 0;
  std::string BuildId; ///< hexadecimal; empty: none
};

/// Nothing if no ELF file for 64 bits begins at Address. Read fills the bytes
/// from an address on, or says that it cannot.
std::optional<ElfImage> readElfImage(
    uint64_t Address,
    llvm::function_ref<bool(uint64_t, llvm::MutableArrayRef<uint8_t>)> Read);

} // namespace chronicle

#endif
