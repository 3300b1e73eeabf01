// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/model/CallTracker.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <utility>

namespace chronicle::model {

/// The number of stacks kept per thread. Of a program that keeps making
/// coroutines, the stacks that it left longest ago are forgotten.
static constexpr size_t MaxStacks = 1024;

/// How far beyond its stack the stack pointer may be set and still be on that
/// stack.
static constexpr uint64_t NearBytes = 1024;

CallTracker::CallTracker(uint64_t StackPointer, Timestamp T)
    : StackPointer(StackPointer) {
  begin(StackPointer, T, 0);
}

CallTracker::CallTracker(std::vector<CallStackRecord> Known)
    : Stacks(std::move(Known)), StackPointer(Stacks.front().StackPointer) {
  for (const CallStackRecord &S : Stacks)
    LastId = std::max(LastId, S.Id);
  top();
}

void CallTracker::begin(uint64_t To, Timestamp T, uint32_t Interrupted) {
  if (Stacks.size() == MaxStacks)
    Stacks.pop_back();
  CallStackRecord S;
  S.Top = To;
  S.Id = ++LastId;
  S.Interrupted = Interrupted;
  S.Calls.push_back({T, pieces::NeverEnds, 0, 0, 0, false});
  Stacks.insert(Stacks.begin(), std::move(S));
  Limit = 0;
}

void CallTracker::leave() { current().StackPointer = StackPointer; }

void CallTracker::set(uint64_t To, Timestamp T) {
  // The smallest stack it can lie on: coroutine stacks may be carved out of
  // another one.
  size_t Best = Stacks.size();
  uint64_t BestSize = pieces::NeverEnds;
  for (size_t I = 0; I < Stacks.size(); ++I) {
    uint64_t Low = I == 0 ? StackPointer : Stacks[I].StackPointer;
    uint64_t Size = Stacks[I].Top - Low;
    if (Low <= To && To <= Stacks[I].Top && Size < BestSize) {
      Best = I;
      BestSize = Size;
    }
  }
  // Pushes and pops that are computed in other registers. A separate stack this
  // close to another one would have overflowed.
  if (Best == Stacks.size() && To + NearBytes >= StackPointer &&
      To <= current().Top + NearBytes)
    Best = 0;
  if (Best == 0)
    return moved(To);
  leave();
  if (Best == Stacks.size()) {
    StackPointer = To;
    begin(To, T, 0);
    return;
  }
  std::rotate(Stacks.begin(), Stacks.begin() + Best, Stacks.begin() + Best + 1);
  // A signal stack is no longer needed once it is left.
  if (Stacks[1].Interrupted) {
    if (Ended)
      Ended->insert(Ended->end(), Stacks[1].Calls.rbegin(),
                    Stacks[1].Calls.rend());
    Stacks.erase(Stacks.begin() + 1);
  }
  top();
  moved(To);
}

void CallTracker::signal(uint64_t To, bool AlternateStack, Timestamp T) {
  // A handler interrupted on the signal stack goes on there.
  bool Another =
      AlternateStack && (To >= StackPointer || !current().Interrupted);
  if (Another) {
    leave();
    begin(To, T, current().Id);
  }
  StackPointer = To;
  push({T, To, 0, 0, 0, true});
}

uint32_t CallTracker::number(CallStackRecord &Stack, NumberActivation Add) {
  size_t Known = Stack.Calls.size();
  while (Known && !Stack.Calls[Known - 1].Node)
    --Known;
  uint32_t Parent = 0;
  if (Known) {
    Parent = Stack.Calls[Known - 1].Node;
  } else if (Stack.Interrupted) {
    // The interrupted stack is older, so the recursion ends.
    auto It = llvm::find_if(Stacks, [&](const CallStackRecord &S) {
      return S.Id == Stack.Interrupted;
    });
    if (It != Stacks.end())
      Parent = number(*It, Add);
  }
  for (pieces::CallRecord &Call :
       llvm::MutableArrayRef(Stack.Calls).drop_front(Known))
    Parent = Call.Node = Add(Parent, Stack, Call);
  return Parent;
}

} // namespace chronicle::model
