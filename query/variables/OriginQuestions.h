// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why a value is what it is: the way it came, with names.

#ifndef CHRONICLE_QUERY_VARIABLES_ORIGINQUESTIONS_H
#define CHRONICLE_QUERY_VARIABLES_ORIGINQUESTIONS_H

#include "query/answers/Memory.h"
#include "query/answers/Origin.h"
#include "query/origins/ValueEngine.h"
#include "query/questions/Place.h"
#include "query/questions/SystemCallQuestions.h"

namespace chronicle::variables {

/// A step of answers::OriginTrail, with names.
struct OriginStepAnswer {
  answers::OriginStep Step;
  questions::Place Where;
  /// If Where is the system's code: the innermost frame outside of it.
  std::optional<questions::Place> Caller;
  std::optional<questions::SystemCall> Call; ///< that made the value
  /// Of initial contents: what the memory is mapped from.
  std::optional<answers::Mapping> MappedFrom;
  /// It only carries the value within the source line, or within the system's
  /// code that the line called, of the step that it leads to.
  bool Carries = false;
};

struct OriginAnswer {
  std::vector<OriginStepAnswer> Steps;
  bool Complete = true;
};

/// Follows the value that the place holds at At. Costs as
/// ValueEngine::origin(), and a call stack for each step in the system's code.
/// After a cancellation the answer has what was found so far.
llvm::Expected<OriginAnswer> whyValue(const query::Trace &T,
                                      origins::ValueEngine &Engine,
                                      const answers::ValuePlace &Place,
                                      Timestamp At, uint64_t Limit,
                                      const answers::Cancellation &Cancel);

/// "computed", "constant", "system-call" …
llvm::StringRef nameOf(answers::OriginKind Kind);

} // namespace chronicle::variables

#endif
