// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// When code that has a breakpoint ran, for one who asks again and again: a
/// debugger whose condition is false goes from each execution to the next.

#ifndef CHRONICLE_LLDB_PLUGIN_BREAKPOINTHITS_H
#define CHRONICLE_LLDB_PLUGIN_BREAKPOINTHITS_H

#include "query/Trace.h"
#include <map>
#include <optional>

namespace chronicle {

/// Each search of the trace walks a block from its start. From the second
/// execution in the same block on, all in that block are kept, and what is
/// found among them costs nothing. Takes 100 MB at most. Not thread-safe.
class BreakpointHits {
public:
  explicit BreakpointHits(const Trace &T) : T(T) {}

  /// The first execution of the instruction in a time range, or the last.
  llvm::Expected<std::optional<Execution>> find(uint64_t Address,
                                                TimeRange When, bool Backward,
                                                const Cancellation &Cancel);

private:
  static constexpr size_t Most = 1 << 16, MostAddresses = 64;
  struct Executions {
    TimeRange When{1, 0}; ///< all that there are then are in All
    std::vector<Execution> All;
    std::optional<BlockNumber> LastBlock; ///< of what was found last
  };
  llvm::Error keep(uint64_t Address, BlockNumber Block, Timestamp Found,
                   Executions &Of, const Cancellation &Cancel);

  const Trace &T;
  std::map<uint64_t, Executions> Known;
};

} // namespace chronicle

#endif
