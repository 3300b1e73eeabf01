// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A system call: its entry and its exit in one.

#ifndef CHRONICLE_QUERY_ANSWERS_SYSTEMCALL_H
#define CHRONICLE_QUERY_ANSWERS_SYSTEMCALL_H

#include "trace-format/TraceData.h"
#include <array>
#include <cstdint>
#include <optional>

namespace chronicle::answers {

/// What is not known stays empty.
struct SystemCall {
  uint32_t Number = 0, Thread = 0;
  std::optional<Timestamp> Entered; ///< the moment after its instruction
  std::optional<std::array<uint64_t, 6>> Arguments;
  std::optional<Timestamp> Returned; ///< nothing: not within the run
  std::optional<int64_t> Result;     ///< -errno if it failed
};

} // namespace chronicle::answers

#endif
