// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A read of memory by an instruction.

#ifndef CHRONICLE_QUERY_ANSWERS_READ_H
#define CHRONICLE_QUERY_ANSWERS_READ_H

#include "trace-format/TraceData.h"
#include <cstdint>
#include <vector>

namespace chronicle::answers {

struct Read {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint64_t Pc = 0;
  uint64_t Address = 0;
  /// All bytes of the read, including those outside the range asked for.
  std::vector<uint8_t> Bytes;
};

} // namespace chronicle::answers

#endif
