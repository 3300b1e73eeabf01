// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Finds when a call ran an instruction, and what its branches decided by.

#ifndef CHRONICLE_QUERY_CONTROL_CALLSEARCH_H
#define CHRONICLE_QUERY_CONTROL_CALLSEARCH_H

#include "query/control/ControlQuestions.h"

namespace chronicle::control {

/// Questions about one call after the other.
class CallSearch {
public:
  CallSearch(const query::Trace &T, origins::ValueEngine &Engine, Timestamp At,
             const answers::Cancellation &Cancel)
      : T(T), Engine(Engine), Cancel(Cancel), Graphs(T, At, Cancel) {}

  /// The times at which the call itself, and not one that it made, ran the
  /// instruction, newest first. Visit returns false to end.
  llvm::Error
  lastRun(uint64_t Pc, answers::TimeRange When,
          llvm::function_ref<llvm::Expected<bool>(Timestamp)> Visit) const;
  /// Where the call's thread is.
  llvm::Expected<uint64_t> pcAt(Timestamp Time) const;
  /// Finds out what a branch decided by.
  llvm::Error addCondition(ControlStep &To) const;
  ControlStep stepAt(ControlStep::Kind What, Timestamp Time, uint64_t Pc) const;
  /// How often the call ran an instruction in a time range. Nothing: it calls
  /// itself, so that it would have to be looked at each time.
  std::optional<uint64_t> count(uint64_t Pc, answers::TimeRange When) const;

  const query::Trace &T;
  origins::ValueEngine &Engine;
  const answers::Cancellation &Cancel;
  FunctionGraphs Graphs;
  answers::Activation Call; ///< that is looked at
};

} // namespace chronicle::control

#endif
