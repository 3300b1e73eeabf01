// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How the making of an index is followed and ended.

#ifndef CHRONICLE_QUERY_ANSWERS_INDEXPROGRESS_H
#define CHRONICLE_QUERY_ANSWERS_INDEXPROGRESS_H

#include "query/answers/Cancellation.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <functional>

namespace chronicle::answers {

struct IndexProgress {
  /// Called from any thread while the index is made, with how many of the run's
  /// instructions are done.
  std::function<void(uint64_t Done, uint64_t Total)> Step;
  /// Called with a sentence that the user should know: that a damaged index is
  /// made again, or that it cannot be kept.
  std::function<void(llvm::StringRef Sentence)> Note;
  const Cancellation *Cancel = nullptr;
};

} // namespace chronicle::answers

#endif
