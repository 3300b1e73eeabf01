// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Ranges of time and of addresses.

#ifndef CHRONICLE_QUERY_ANSWERS_RANGES_H
#define CHRONICLE_QUERY_ANSWERS_RANGES_H

#include "trace-format/TraceData.h"
#include <cstdint>

namespace chronicle::answers {

struct TimeRange {
  Timestamp First = 0, Last = ~Timestamp(0); ///< both included
};

struct AddressRange {
  uint64_t First = 0, Last = 0; ///< both included
};

} // namespace chronicle::answers

#endif
