// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Why a value is what it is: the way it came, with names.

#ifndef CHRONICLE_QUERY_VARIABLES_ORIGINQUESTIONS_H
#define CHRONICLE_QUERY_VARIABLES_ORIGINQUESTIONS_H

#include "query/answers/Memory.h"
#include "query/answers/Origin.h"
#include "query/answers/Slice.h"
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

/// A node of answers::Slice, with names.
struct SliceNodeAnswer : OriginStepAnswer {
  std::vector<answers::SliceEdge> From;
  uint32_t Depth = 0;
  bool Cut = false;
};

/// A source line that has a part in a value. Code of the system counts as the
/// line that called it.
struct SliceLine {
  std::string File, Function;
  uint32_t Line = 0;
  uint64_t Count = 0; ///< of instructions executed, each time that it ran
  Timestamp First = 0, Last = 0; ///< of those
};

struct SliceAnswer {
  std::vector<SliceNodeAnswer> Nodes;
  std::vector<answers::SliceEdge> Roots;
  std::vector<SliceLine> Lines; ///< by file and line
  bool Complete = true;
};

/// The same as whyValue() for all that the value was computed from.
llvm::Expected<SliceAnswer> sliceOf(const query::Trace &T,
                                    origins::ValueEngine &Engine,
                                    const answers::ValuePlace &Place,
                                    Timestamp At, origins::SliceBounds Bounds,
                                    const answers::Cancellation &Cancel);

/// Whether the bytes are those that Valgrind keeps the flags in: the operation
/// that set them, and its operands.
bool isOfFlags(const answers::ValuePlace &P);

/// "computed", "constant", "system-call" …
llvm::StringRef nameOf(answers::OriginKind Kind);

} // namespace chronicle::variables

#endif
