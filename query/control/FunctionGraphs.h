// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The graphs of a recorded program's functions.

#ifndef CHRONICLE_QUERY_CONTROL_FUNCTIONGRAPHS_H
#define CHRONICLE_QUERY_CONTROL_FUNCTIONGRAPHS_H

#include "query/Trace.h"
#include "query/control/FunctionGraph.h"
#include "query/symbols/Symbols.h"
#include <map>

namespace chronicle::control {

/// Makes the graphs of functions from the code in memory at a moment, and keeps
/// them. A function's extent is that of its symbol; a part that the compiler
/// moved away ("f.cold") belongs to it. A call never returns if its function is
/// known for that by its name (abort, exit, __assert_fail …), or if none of its
/// own ways leads to a return.
class FunctionGraphs {
public:
  FunctionGraphs(const query::Trace &T, Timestamp At,
                 const answers::Cancellation &Cancel)
      : T(T), At(At), Cancel(Cancel) {}

  /// The graph of the function that starts at Entry. Fails, and says why, if
  /// its extent is not known or its code cannot be decoded.
  llvm::Expected<const FunctionGraph *> graphOf(uint64_t Entry) {
    return graphOf(Entry, 0);
  }

private:
  llvm::Expected<const FunctionGraph *> graphOf(uint64_t Entry, unsigned Depth);
  bool neverReturns(uint64_t Entry, unsigned Depth);
  llvm::SmallVector<uint64_t, 8> targetsOf(uint64_t Jump) const;

  const query::Trace &T;
  const Timestamp At;
  const answers::Cancellation &Cancel;
  std::map<uint64_t, std::optional<FunctionGraph>> Graphs;
  std::map<uint64_t, std::string> Problems;
  std::map<uint64_t, bool> Returning; ///< false: never returns
};

} // namespace chronicle::control

#endif
