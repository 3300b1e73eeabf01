// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a caller ends a long search early.

#ifndef CHRONICLE_QUERY_ANSWERS_CANCELLATION_H
#define CHRONICLE_QUERY_ANSWERS_CANCELLATION_H

#include <atomic>

namespace chronicle::answers {

/// Set from another thread to end a long search early.
struct Cancellation {
  std::atomic<bool> Cancelled{false};
};

} // namespace chronicle::answers

#endif
