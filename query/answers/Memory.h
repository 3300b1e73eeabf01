// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Memory at a moment: its contents and how it is mapped.

#ifndef CHRONICLE_QUERY_ANSWERS_MEMORY_H
#define CHRONICLE_QUERY_ANSWERS_MEMORY_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace chronicle::answers {

/// A range of memory, some of which may not be mapped: Mapped lists the parts
/// that are, as [first, last) offsets into Bytes; the rest of Bytes is zero.
struct MemoryContents {
  std::vector<uint8_t> Bytes;
  std::vector<std::pair<uint64_t, uint64_t>> Mapped;
};

struct Mapping {
  uint64_t Address = 0, Length = 0, Offset = 0;
  uint32_t Protection = 0, Flags = 0; ///< CH_PROT_*, CH_MAP_*
  uint32_t Object = 0;                ///< shared object, or 0
  std::string Path;
};

} // namespace chronicle::answers

#endif
