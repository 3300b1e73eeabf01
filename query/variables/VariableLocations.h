// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// In which registers optimized code keeps a variable, and where.

#ifndef CHRONICLE_QUERY_VARIABLES_VARIABLELOCATIONS_H
#define CHRONICLE_QUERY_VARIABLES_VARIABLELOCATIONS_H

#include "query/Trace.h"

namespace chronicle::variables {

/// Where a variable is while the pc is in [First, Last].
struct VariableRange {
  uint64_t First = 0, Last = 0;
  /// The register that has all of it, by DWARF's number. Nothing: it is in
  /// memory, in several places, or computed.
  std::optional<uint64_t> Register;
  bool contains(uint64_t Pc) const { return First <= Pc && Pc <= Last; }
};

/// The locations of the variable or parameter of that name that is in scope at
/// Pc and in that register (by DWARF's number) there. Empty: there is none, or
/// the program's file has no debug info in it. Reads the debug info of the
/// function's compile unit.
std::vector<VariableRange> variableLocations(const query::Trace &T, uint64_t Pc,
                                             llvm::StringRef Name,
                                             uint64_t Register, Timestamp At);

} // namespace chronicle::variables

#endif
