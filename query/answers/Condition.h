// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a branch decided by.

#ifndef CHRONICLE_QUERY_ANSWERS_CONDITION_H
#define CHRONICLE_QUERY_ANSWERS_CONDITION_H

#include "query/answers/Origin.h"

namespace chronicle::answers {

/// A value that a condition was computed from. Place holds Value at time At.
struct ConditionOperand {
  ValuePlace Place;
  std::vector<uint8_t> Value;
  Timestamp At = 0;
};

/// The condition of a branch, or the target of an indirect jump.
struct Condition {
  /// The instruction that set the flags. Its pc is 0 if there is none: not all
  /// jumps look at the flags.
  Timestamp Compared = 0;
  uint64_t ComparedPc = 0;
  std::vector<ConditionOperand> Operands;
};

} // namespace chronicle::answers

#endif
