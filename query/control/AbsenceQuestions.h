// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why code did not run: the branch that went the other way.

#ifndef CHRONICLE_QUERY_CONTROL_ABSENCEQUESTIONS_H
#define CHRONICLE_QUERY_CONTROL_ABSENCEQUESTIONS_H

#include "query/control/ControlQuestions.h"
#include "query/questions/CodePlaces.h"

namespace chronicle::control {

/// A branch that ran, and whose other way would have led to the code, or closer
/// to it.
struct MissedTurn {
  ControlStep Last;              ///< the last time
  std::optional<uint64_t> Count; ///< how often it ran, if it can be counted
  /// It went that way at last, but something left the function before the code
  /// was reached.
  bool WentThere = false;
};

struct AbsenceAnswer {
  questions::Place Code; ///< that was looked for
  /// It did run: the last time, in the call or in the run.
  std::optional<answers::Execution> Ran;
  /// If the question is about one call: how often it ran in the whole run.
  uint64_t InAll = 0;
  /// How many branches between these and the code did not run either.
  uint32_t Distance = 0;
  std::vector<MissedTurn> Turns; ///< the closest ones, newest first
  std::string Note;              ///< why there are none; empty: there are some
};

/// Looks for the branches that kept the first instruction of the code from
/// running: in the given call of its function or, without one, in all calls. Of
/// several places, as a line that was inlined has, the answer is about the one
/// that ran, or came closest. Costs a search for executions per branch that
/// leads there.
llvm::Expected<AbsenceAnswer>
whyNot(const query::Trace &T, origins::ValueEngine &Engine,
       llvm::ArrayRef<questions::CodePlace> Code,
       const std::optional<answers::Activation> &Call, Timestamp At,
       const answers::Cancellation &Cancel);

} // namespace chronicle::control

#endif
