// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A thread of the run.

#ifndef CHRONICLE_QUERY_ANSWERS_THREADINFO_H
#define CHRONICLE_QUERY_ANSWERS_THREADINFO_H

#include "trace-format/TraceData.h"
#include <cstdint>
#include <optional>

namespace chronicle::answers {

struct ThreadInfo {
  uint32_t Number = 0, Parent = 0;
  uint64_t OsThread = 0;
  Timestamp Started = 0;
  std::optional<Timestamp> Exited; ///< nothing: alive at the end of the run
};

} // namespace chronicle::answers

#endif
