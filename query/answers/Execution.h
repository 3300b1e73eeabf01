// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// An executed instruction.

#ifndef CHRONICLE_QUERY_ANSWERS_EXECUTION_H
#define CHRONICLE_QUERY_ANSWERS_EXECUTION_H

#include "trace-format/TraceData.h"
#include <cstdint>

namespace chronicle::answers {

struct Execution {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  uint64_t Pc = 0;
};

} // namespace chronicle::answers

#endif
