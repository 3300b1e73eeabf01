// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/stepping/SourceStep.h"
#include "lldb-plugin/stepping/ActivationWalk.h"
#include "lldb-plugin/stepping/LineStep.h"
#include "query/questions/FunctionEntry.h"

using namespace llvm;

namespace chronicle::stepping {

SourceStep::Arrival arrivalAt(LineTable &Lines, const answers::Execution &X,
                              size_t Scopes) {
  ArrayRef<CodePlace::Scope> There = Lines.at(X.Pc).Scopes;
  size_t Shown = There.size();
  while (Shown > Scopes && There[Shown - 1].Begins)
    --Shown;
  return {X.Time, There.size() - Shown};
}

SourceStep::Destination SourceStep::over(session::Position From,
                                         size_t Hidden) {
  return LineStep(Context, From, Hidden, /*Into=*/false).take();
}

SourceStep::Destination SourceStep::into(session::Position From,
                                         size_t Hidden) {
  return LineStep(Context, From, Hidden, /*Into=*/true).take();
}

/// The activations up to the one at Index, as LLDB shows them.
Expected<std::vector<answers::Activation>>
SourceStep::stackOf(session::Position From, size_t Index) const {
  Expected<std::vector<answers::Activation>> Stack =
      questions::stackWithStrayReturns(Context.T, From.Thread, From.Time,
                                       Index + 1);
  assert((!Stack || Index < Stack->size()) && "LLDB has more frames");
  return Stack;
}

SourceStep::Destination SourceStep::out(session::Position From, size_t Index,
                                        size_t Scopes) {
  if (Scopes > 1)
    return outOfInlined(From, Index, Scopes);
  Expected<std::vector<answers::Activation>> Stack = stackOf(From, Index);
  if (!Stack)
    return Stack.takeError();
  ActivationWalk Way(Context.T, From.Thread, /*Into=*/false, Context.Cancel);
  Expected<std::optional<answers::Execution>> Call =
      Way.instructionBefore((*Stack)[Index].Entry);
  if (!Call)
    return Call.takeError();
  if (!*Call)
    return std::nullopt;
  return Arrival{(*Call)->Time};
}

SourceStep::Destination SourceStep::outOfInlined(session::Position From,
                                                 size_t Index, size_t Scopes) {
  Expected<std::vector<answers::Activation>> Stack = stackOf(From, Index);
  if (!Stack)
    return Stack.takeError();
  const answers::Activation &Left = (*Stack)[Index];
  ArrayRef<CodePlace::Scope> Base = Context.Lines.at(Left.Pc).Scopes;
  Base = Base.take_front(Scopes);
  using Walk = ActivationWalk;
  Walk Way(Context.T, From.Thread, /*Into=*/false, Context.Cancel);
  Way.enter(Left, Index ? (*Stack)[Index - 1].Entry : From.Time);
  std::optional<answers::Execution> Start;
  while (true) {
    Expected<Walk::Found> F = Way.previous();
    if (!F)
      return F.takeError();
    if (F->What == Walk::Kind::Callee) {
      Way.skip(*F);
      continue;
    }
    if (F->What != Walk::Kind::Own)
      break;
    const CodePlace &There = Context.Lines.at(F->Last.Pc);
    if (commonScopes(Base, There.Scopes) == Base.size())
      Start = F->Last;
    else if (There.hasLine())
      break;
  }
  if (Start)
    return arrivalAt(Context.Lines, *Start, Scopes - 1);
  // The thread is at the start of the inlined function already.
  if (!Index && Base.back().Begins) {
    answers::Execution Here;
    Here.Time = From.Time;
    Here.Pc = Left.Pc;
    return arrivalAt(Context.Lines, Here, Scopes - 1);
  }
  return out(From, Index, Scopes - 1);
}

SourceStep::Destination SourceStep::instructions(session::Position From,
                                                 uint64_t Count) {
  std::optional<Arrival> Last;
  if (!From.Time || !Count)
    return Last;
  if (Error E = Context.T.executions(
          {0, ~uint64_t(0)}, {0, From.Time - 1}, From.Thread,
          /*Backward=*/true,
          [&](const answers::Execution &X) {
            Last = Arrival{X.Time};
            return --Count != 0;
          },
          &Context.Cancel))
    return E;
  if (Context.Cancel.Cancelled)
    return interruptedStep();
  return Last;
}

} // namespace chronicle::stepping
