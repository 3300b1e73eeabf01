// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// An ELF file in memory.

#ifndef CHRONICLE_QUERY_ANSWERS_MODULE_H
#define CHRONICLE_QUERY_ANSWERS_MODULE_H

#include <cstdint>
#include <string>

namespace chronicle::answers {

/// An ELF file mapped into the program.
struct Module {
  std::string Path;
  uint64_t Address = 0; ///< of its first mapping
  uint64_t Size = 0;
  std::string BuildId; ///< hexadecimal; empty: none
};

} // namespace chronicle::answers

#endif
