// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a global or thread-local variable is in memory.

#ifndef CHRONICLE_QUERY_QUESTIONS_VARIABLEPLACE_H
#define CHRONICLE_QUERY_QUESTIONS_VARIABLEPLACE_H

#include "query/Trace.h"

namespace chronicle::questions {

/// A variable or a part of it.
struct VariableName {
  std::string Name;
  uint64_t Offset = 0;
  std::optional<uint64_t> Length; ///< nothing: to the end of the variable
  /// Whose copy of a thread-local variable; 0: of the thread that runs then.
  uint32_t Thread = 0;
};

/// The variable must exist at some time of When. A thread-local one is where
/// it is at At.
llvm::Expected<answers::AddressRange> findVariable(const query::Trace &T,
                                                   const VariableName &Variable,
                                                   answers::TimeRange When,
                                                   Timestamp At);

} // namespace chronicle::questions

#endif
