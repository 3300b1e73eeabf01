// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/CallTracker.h"
#include <algorithm>
#include <utility>

namespace chronicle {

/// Stacks kept for one thread. A program that makes coroutines without end
/// forgets those it left longest ago.
static constexpr size_t MaxStacks = 4096;
static constexpr uint64_t NeverEnds = ~uint64_t(0);

CallTracker::CallTracker(uint64_t StackPointer, Timestamp T)
    : StackPointer(StackPointer) {
  begin(StackPointer, T, 0);
}

CallTracker::CallTracker(std::vector<CallStackRecord> Known, uint64_t StackPointer)
    : Stacks(std::move(Known)), StackPointer(StackPointer) {
  for (const CallStackRecord &S : Stacks)
    LastId = std::max(LastId, S.Id);
  top();
}

void CallTracker::top() { TopSlot = current().Calls.back().Slot; }

void CallTracker::unwind() {
  CallStackRecord &S = current();
  while (S.Calls.back().Slot < StackPointer)
    S.Calls.pop_back();
  S.Top = std::max(S.Top, StackPointer);
  CalleePending = false;
  top();
}

void CallTracker::call(uint32_t CallSuperblock, Timestamp Entry) {
  CallStackRecord &S = current();
  // Its own return address overwritten: that activation is over.
  while (S.Calls.back().Slot <= StackPointer)
    S.Calls.pop_back();
  S.Calls.push_back({Entry, StackPointer, CallSuperblock, 0, 0, false});
  TopSlot = StackPointer;
  CalleePending = true;
}

void CallTracker::begin(uint64_t To, Timestamp T, uint32_t Interrupted) {
  if (Stacks.size() == MaxStacks)
    Stacks.pop_back();
  CallStackRecord S;
  S.Top = To;
  S.Id = ++LastId;
  S.Interrupted = Interrupted;
  S.Calls.push_back({T, NeverEnds, 0, 0, 0, false});
  Stacks.insert(Stacks.begin(), std::move(S));
  CalleePending = true;
  top();
}

void CallTracker::leave() {
  current().StackPointer = StackPointer;
  CalleePending = false;
}

void CallTracker::set(uint64_t To, bool FromItself, Timestamp T) {
  if (FromItself)
    return moved(To);
  // The smallest stack it can lie on: coroutine stacks may be carved out of
  // another one.
  size_t Best = Stacks.size();
  uint64_t BestSize = NeverEnds;
  for (size_t I = 0; I < Stacks.size(); ++I) {
    uint64_t Low = I == 0 ? StackPointer : Stacks[I].StackPointer;
    uint64_t Size = Stacks[I].Top - Low;
    if (Low <= To && To <= Stacks[I].Top && Size < BestSize) {
      Best = I;
      BestSize = Size;
    }
  }
  if (Best == 0)
    return moved(To);
  leave();
  if (Best == Stacks.size()) {
    StackPointer = To;
    begin(To, T, 0);
    return;
  }
  std::rotate(Stacks.begin(), Stacks.begin() + Best, Stacks.begin() + Best + 1);
  // A signal stack is done with when it is left.
  if (Stacks[1].Interrupted)
    Stacks.erase(Stacks.begin() + 1);
  top();
  moved(To);
}

void CallTracker::signal(uint64_t To, bool AlternateStack, Timestamp T) {
  // A handler interrupted on the signal stack goes on there.
  if (AlternateStack && !(To < StackPointer && current().Interrupted)) {
    leave();
    StackPointer = To;
    begin(To, T, current().Id);
  }
  StackPointer = To;
  CallStackRecord &S = current();
  while (S.Calls.back().Slot <= To)
    S.Calls.pop_back();
  S.Calls.push_back({T, To, 0, 0, 0, true});
  TopSlot = To;
  CalleePending = true;
}

} // namespace chronicle
