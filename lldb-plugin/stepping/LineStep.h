// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One step back by source lines: what `reverse-next` and `reverse-step` do
/// once.

#ifndef CHRONICLE_LLDB_PLUGIN_STEPPING_LINESTEP_H
#define CHRONICLE_LLDB_PLUGIN_STEPPING_LINESTEP_H

#include "lldb-plugin/stepping/ActivationWalk.h"
#include "lldb-plugin/stepping/SourceStep.h"

namespace chronicle::stepping {

/// Neighbouring instructions of one activation that are of the same source
/// line, as seen from a scope: code that is inlined deeper counts as the line
/// of its call.
class LineRun {
public:
  explicit LineRun(llvm::ArrayRef<CodePlace::Scope> Scopes) : Scopes(Scopes) {}

  llvm::ArrayRef<CodePlace::Scope> scopes() const { return Scopes; }
  uint32_t file() const { return Scopes.back().File; }
  bool has(const CodePlace &Place) const;

  answers::Execution Start; ///< the earliest instruction found so far

private:
  llvm::SmallVector<CodePlace::Scope, 2> Scopes;
};

/// Walks backward from where the step starts until a line run is complete. Its
/// state is the run found so far and the scopes that the step must not leave;
/// each kind of instruction that the walk finds has a function that updates
/// that state. Good for one step.
class LineStep {
public:
  /// Into: enters what the line called, from its end. Hidden: inlined functions
  /// that begin at From and that the debugger does not show.
  LineStep(StepContext &Context, session::Position From, size_t Hidden,
           bool Into);

  SourceStep::Destination take();

private:
  using Walk = ActivationWalk;
  /// Finds where the step starts. \return false if the thread has no frames.
  llvm::Expected<bool> begin();
  /// At the start of an inlined function, leaves it unless the instruction
  /// before was in it too. \return whether the step ends at its call, because
  /// nothing else of the call's line ran before.
  bool leaveInlined(const Walk::Found &Previous);

  // These return whether the step has ended, with Result.
  llvm::Expected<bool> takeFound(const Walk::Found &F);
  llvm::Expected<bool> takeOwn(const answers::Execution &X);
  llvm::Expected<bool> takeCallee(const Walk::Found &F);
  llvm::Expected<bool> takeCaller(const Walk::Found &F);
  bool endAt(SourceStep::Arrival There);
  /// Ends at the start of Line.
  bool endAtLine();

  bool hasLine(const CodePlace &Place) const;
  /// How many scopes of a place the step sees: without Into, no inlined
  /// function deeper than where it started.
  size_t depthIn(const CodePlace &Place) const;
  void beginLine(const CodePlace &Place);
  /// Whether a debugger that steps from From to To, which is of another line of
  /// the same file, would go on, because To is in the middle of a row.
  llvm::Expected<bool> goesOn(const answers::Execution &From,
                              const answers::Execution &To);
  /// The function that was called. What its activation runs now may be another
  /// one, after a jump, or the code that unwinds it for an exception.
  llvm::Expected<const CodePlace *> begunIn(const answers::Activation &A);
  /// Of calls that were left at once, innermost first: the innermost one to
  /// enter. None if a signal handler is among them, which no step enters.
  llvm::Expected<std::optional<size_t>>
  calleeToEnter(llvm::ArrayRef<answers::Activation> Called);

  StepContext &Context;
  const session::Position From;
  const size_t Hidden;
  const bool Into;
  Walk Way;
  uint64_t StartPc = 0;
  const CodePlace *Start = nullptr;
  /// The scopes that the step started in, or those of the caller that it has
  /// returned to.
  llvm::ArrayRef<CodePlace::Scope> Base;
  /// The step started at the first instruction of an inlined function.
  bool AtInlined = false;
  std::optional<LineRun> Line; ///< none yet: no instruction with a line
  std::optional<SourceStep::Arrival> Result;
};

} // namespace chronicle::stepping

#endif
