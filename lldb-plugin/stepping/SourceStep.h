// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a step backward ends, at source level.
///
/// The instructions that an activation ran itself, without those of its
/// callees, fall into *line runs*: neighbours of the same source line. A
/// debugger's step forward goes from the start of one line run to the start of
/// the next. A step backward goes to the start of the line run that contains
/// the instruction before now, so each undoes the other, and a step from the
/// middle of a line leads to its beginning. Where an inlined function begins,
/// one moment has several places: the function's first line and the line of its
/// call.

#ifndef CHRONICLE_LLDB_PLUGIN_STEPPING_SOURCESTEP_H
#define CHRONICLE_LLDB_PLUGIN_STEPPING_SOURCESTEP_H

#include "lldb-plugin/session/TimeTravel.h"
#include "lldb-plugin/stepping/LineTable.h"
#include "llvm/ADT/DenseMap.h"

namespace chronicle::stepping {

/// What all steps of one command share.
struct StepContext {
  const query::Trace &T;
  LineTable &Lines;
  const answers::Cancellation &Cancel;
  /// The function that each stub of the linkage table led to.
  // NOLINTNEXTLINE(readability-redundant-member-init): g++ warns without it.
  llvm::DenseMap<uint64_t, uint64_t> BehindStub{};
};

/// Finds the destinations. Callees are skipped by their activations, so the
/// cost of a step depends on the instructions of the line itself, not on what
/// it called. Not thread-safe.
class SourceStep {
public:
  SourceStep(const query::Trace &T, LineTable &Lines,
             const answers::Cancellation &Cancel)
      : Context{T, Lines, Cancel} {}

  struct Arrival {
    Timestamp Time = 0;
    /// This many inlined functions begin at that instruction and are not
    /// entered yet. They are the innermost scopes; a debugger should not show
    /// them.
    size_t Hidden = 0;
  };
  /// Empty, in all of these, if the thread ran nothing before.
  using Destination = llvm::Expected<std::optional<Arrival>>;

  /// To the start of the line before, over calls. Hidden is the present
  /// position's, as in Arrival.
  Destination over(session::Position From, size_t Hidden);
  /// The same, but into calls, from their end.
  Destination into(session::Position From, size_t Hidden);
  /// To the call of the activation at that index of the call stack. With
  /// Scopes > 1, to the start of the inlined function that is that deep in the
  /// activation's code.
  Destination out(session::Position From, size_t Activation, size_t Scopes);
  /// Back by Count instructions of the thread.
  Destination instructions(session::Position From, uint64_t Count);

private:
  llvm::Expected<std::vector<answers::Activation>>
  stackOf(session::Position From, size_t Index) const;
  Destination outOfInlined(session::Position From, size_t Activation,
                           size_t Scopes);

  StepContext Context;
};

/// The arrival at an instruction that the debugger is to show from the
/// outermost Scopes scopes.
SourceStep::Arrival arrivalAt(LineTable &Lines, const answers::Execution &X,
                              size_t Scopes);

} // namespace chronicle::stepping

#endif
