// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/stepping/ActivationWalk.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::stepping {

Error interruptedStep() {
  return createStringError("interrupted; nothing has moved");
}

static bool same(const answers::Activation &A, const answers::Activation &B) {
  // The function that a thread begins in has no stack pointer of its own.
  bool Outermost = !A.CallSite && !B.CallSite && !A.Signal;
  return A.Entry == B.Entry && A.Signal == B.Signal &&
         (Outermost || A.StackPointer == B.StackPointer);
}

void ActivationWalk::enter(const answers::Activation &A, Timestamp Time) {
  Inside = A;
  Before = Time;
  Own = {1, 0};
}

Error ActivationWalk::fill(Timestamp Last) {
  // Each search walks a block from its start, so a long walk takes larger and
  // larger windows.
  const bool GoesOn = Last < KnownFrom && KnownFrom - Last <= Window;
  Window = GoesOn ? std::min(2 * Window, LastWindow) : FirstWindow;
  KnownUntil = Last;
  KnownFrom = Last < Window ? 0 : Last - Window;
  Known.clear();
  return T.executions(
      {0, ~uint64_t(0)}, {KnownFrom, KnownUntil}, Thread, /*Backward=*/true,
      [&](const answers::Execution &X) {
        Known.push_back(X);
        return true;
      },
      &Cancel);
}

const answers::Execution *ActivationWalk::findKnown(Timestamp Time) const {
  auto It = partition_point(
      Known, [&](const answers::Execution &X) { return X.Time >= Time; });
  return It == Known.end() ? nullptr : &*It;
}

Expected<std::optional<answers::Execution>>
ActivationWalk::instructionBefore(Timestamp Time) {
  if (!Time)
    return std::nullopt;
  if (Time <= KnownUntil + 1 && Time > KnownFrom)
    if (const answers::Execution *X = findKnown(Time))
      return *X;
  if (Error E = fill(Time - 1))
    return E;
  if (const answers::Execution *X = findKnown(Time))
    return *X;
  // Only other threads ran in that window.
  std::optional<answers::Execution> Last;
  if (KnownFrom)
    if (Error E = T.executions(
            {0, ~uint64_t(0)}, {0, KnownFrom - 1}, Thread, /*Backward=*/true,
            [&](const answers::Execution &X) {
              Last = X;
              return false;
            },
            &Cancel))
      return E;
  if (Cancel.Cancelled)
    return interruptedStep();
  return Last;
}

Expected<bool> ActivationWalk::enterCallBefore(const Found &F,
                                               uint64_t Return) {
  constexpr uint64_t ShortestCall = 2, LongestCall = 7;
  // Other activations may have made the same call since.
  for (Timestamp Until = F.Last.Time; Until >= Inside.Entry;) {
    std::optional<Timestamp> Call;
    if (Error E = T.executions(
            {Return - LongestCall, Return - ShortestCall},
            {Inside.Entry, Until}, Thread, /*Backward=*/true,
            [&](const answers::Execution &X) {
              Call = X.Time;
              return false;
            },
            &Cancel))
      return E;
    if (Cancel.Cancelled)
      return interruptedStep();
    if (!Call)
      break;
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(Thread, *Call, 1);
    if (!Stack)
      return Stack.takeError();
    if (!Stack->empty() && same(Stack->front(), Inside)) {
      enter(answers::Activation(Inside), *Call + 1);
      return true;
    }
    if (!*Call)
      break;
    Until = *Call - 1;
  }
  return false;
}

Expected<ActivationWalk::Found> ActivationWalk::previous() {
  Found F;
  while (true) {
    if (Cancel.Cancelled)
      return interruptedStep();
    Expected<std::optional<answers::Execution>> Last =
        instructionBefore(Before);
    if (!Last)
      return Last.takeError();
    if (!*Last)
      return F;
    F.Last = **Last;
    if (F.Last.Time >= Own.First && F.Last.Time <= Own.Last) {
      F.What = Kind::Own;
      Before = F.Last.Time;
      return F;
    }
    std::optional<answers::TimeRange> Stretch;
    if (Error E = T.stretchBefore(Inside, F.Last.Time + 1).moveInto(Stretch))
      return E;
    if (!Stretch || (Into && F.Last.Time > Stretch->Last))
      break;
    Own = *Stretch;
    Before = Own.Last + 1;
  }
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Thread, F.Last.Time);
  if (!Stack)
    return Stack.takeError();
  F.Stack = std::move(*Stack);
  auto It = find_if(
      F.Stack, [&](const answers::Activation &A) { return same(A, Inside); });
  F.Index = It - F.Stack.begin();
  F.What = It == F.Stack.end() ? Kind::Caller
           : F.Index           ? Kind::Callee
                               : Kind::Own;
  if (F.What == Kind::Own)
    Before = F.Last.Time;
  return F;
}

} // namespace chronicle::stepping
