// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When an instruction with a breakpoint ran, for a debugger that asks again
/// and again because the breakpoint's condition is false.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_BREAKPOINTHITS_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_BREAKPOINTHITS_H

#include "query/Trace.h"
#include <map>
#include <optional>

namespace chronicle::session {

/// Each search of the trace walks a block from its start. Once a second
/// execution is found in the same block, all executions in that block are kept,
/// and later searches among them cost nothing. Uses at most 100 MB. Not
/// thread-safe.
class BreakpointHits {
public:
  explicit BreakpointHits(const query::Trace &T) : T(T) {}

  /// The first execution of the instruction in a time range, or the last.
  llvm::Expected<std::optional<answers::Execution>>
  find(uint64_t Address, answers::TimeRange When, bool Backward,
       const answers::Cancellation &Cancel);

private:
  static constexpr size_t Most = 1 << 16, MostAddresses = 64;
  struct Executions {
    answers::TimeRange When{1, 0}; ///< All has every execution in this range
    std::vector<answers::Execution> All;
    std::optional<BlockNumber> LastBlock; ///< of what was found last
  };
  llvm::Error keep(uint64_t Address, BlockNumber Block, Timestamp Found,
                   Executions &Of, const answers::Cancellation &Cancel);

  const query::Trace &T;
  std::map<uint64_t, Executions> Known;
};

} // namespace chronicle::session

#endif
