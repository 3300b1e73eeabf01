// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Writes from before a fork, in the trace of the process that forked.

#ifndef CHRONICLE_QUERY_ANCESTRY_PARENTWRITE_H
#define CHRONICLE_QUERY_ANCESTRY_PARENTWRITE_H

#include "query/questions/WriteQuestions.h"

namespace chronicle::ancestry {

/// What a process began with was written by its parent, or by a process from
/// which that one had it.
struct ParentWrite {
  std::shared_ptr<const query::Trace> Trace; ///< the writer's
  uint32_t Number = 0;                       ///< of that trace in the run
  int64_t Process = 0;                       ///< the writer's pid
  bool IsParent = true; ///< it is the parent, and not its parent or so on
  questions::WriteAnswer Answer; ///< its times are those of the writer's trace
};

/// Whether a write that was found in T is only what the process began with when
/// it was forked.
bool isFromFork(const query::Trace &T, const questions::WriteAnswer &Found);

/// Goes on in the trace of the parent with a write for which isFromFork().
/// Nothing: the parent had other bytes there when it forked, so that the kernel
/// wrote them for the fork. Fails if the parent's trace is not beside T. Costs
/// one question per generation.
llvm::Expected<std::optional<ParentWrite>>
parentWrite(const query::Trace &T, const questions::WriteAnswer &Found,
            const answers::Cancellation &Cancel);

} // namespace chronicle::ancestry

#endif
