// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/model/CallFollower.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::model {

CallFollower::Thread *CallFollower::find(uint32_t Number) {
  auto It = Threads.find(Number);
  return It == Threads.end() ? nullptr : It->second.get();
}

CallTracker *CallFollower::thread(uint32_t Number) {
  Thread *T = find(Number);
  return T ? &T->Calls : nullptr;
}

ArrayRef<pieces::PendingSignal> CallFollower::signalsOf(uint32_t Number) {
  Thread *T = find(Number);
  return T ? ArrayRef<pieces::PendingSignal>(T->Signals)
           : ArrayRef<pieces::PendingSignal>();
}

void CallFollower::add(uint32_t Number, CallTracker Calls,
                       ArrayRef<pieces::PendingSignal> Signals) {
  auto T = std::make_unique<Thread>(std::move(Calls));
  T->Changed = false;
  T->Signals.append(Signals.begin(), Signals.end());
  Threads[Number] = std::move(T);
}

void CallFollower::inherit(uint32_t Number, CallTracker Calls) {
  Threads[Number] = std::make_unique<Thread>(std::move(Calls));
}

std::vector<uint32_t> CallFollower::takeChanged() {
  std::vector<uint32_t> Changed;
  for (auto &[Number, T] : Threads) {
    if (T->Changed)
      Changed.push_back(Number);
    T->Changed = T.get() == Running;
  }
  llvm::sort(Changed);
  return Changed;
}

void CallFollower::registers(Thread &T, const events::RegistersEvent &E,
                             Timestamp When) {
  uint64_t To = T.Calls.stackPointer();
  for (uint32_t N = 0; N < E.count; ++N)
    if (auto Change = E.change(N); Change.Offset == CH_OFFSET_RSP)
      To = Change.Value;
  if (!T.Signals.empty()) {
    // Several signals at once: the frame of each is below that of the one
    // before, and the last one's handler runs first.
    T.Signals.back().StackPointer = To;
    for (const pieces::PendingSignal &S : T.Signals)
      if (S.StackPointer)
        T.Calls.signal(S.StackPointer, S.AlternateStack, When);
  } else if (T.Faulted) {
    // The instruction that faulted may have moved the stack pointer a little.
    T.Calls.moved(To);
  } else if (To != T.Calls.stackPointer()) {
    T.Calls.set(To, When);
  }
  T.Signals.clear();
  T.Faulted = false;
  T.Changed = true;
}

void CallFollower::snapshot(const events::SnapshotEvent &E, Timestamp When) {
  const uint64_t To = E.word(CH_OFFSET_RSP);
  Thread *T = find(E.thread);
  if (!T) {
    Threads[E.thread] = std::make_unique<Thread>(CallTracker(To, When));
  } else if (T->Calls.stackPointer() != To) {
    ++Surprises;
    T->Calls.set(To, When);
  }
}

void CallFollower::event(uint32_t Kind, ArrayRef<uint8_t> Payload,
                         Timestamp When) {
  switch (Kind) {
  case CH_EV_MEMORY:
    if (auto M = events::MemoryEvent::decode(Kind, Payload)) {
      Thread *T = M->source == CH_MEM_SIGNAL ? find(M->thread) : nullptr;
      // The first part of a signal frame begins where the handler's stack
      // pointer will be.
      if (T && !T->Signals.empty() && !T->Signals.back().StackPointer)
        T->Signals.back().StackPointer = M->address;
    }
    return;
  case CH_EV_SNAPSHOT:
    if (auto S = events::SnapshotEvent::decode(Kind, Payload))
      snapshot(*S, When);
    return;
  case CH_EV_RESUME:
    if (auto R = events::ResumeEvent::decode(Kind, Payload)) {
      Running = find(R->thread);
      if (Running)
        Running->Changed = true;
    }
    return;
  case CH_EV_REGISTERS:
    if (auto R = events::RegistersEvent::decode(Kind, Payload))
      if (Thread *T = find(R->thread))
        registers(*T, *R, When);
    return;
  case CH_EV_FAULT:
    if (auto F = events::FaultEvent::decode(Kind, Payload))
      if (Thread *T = find(F->thread))
        T->Faulted = true;
    return;
  case CH_EV_SIGNAL:
    if (auto S = events::SignalEvent::decode(Kind, Payload)) {
      Thread *T = find(S->thread);
      if (T && !(S->flags & CH_SIG_FATAL)) {
        T->Signals.push_back({0, (S->flags & CH_SIG_ALT_STACK) != 0});
        T->Changed = true;
      }
    }
    return;
  case CH_EV_THREAD_EXIT:
    if (auto X = events::ThreadExitEvent::decode(Kind, Payload)) {
      if (Running && Running == find(X->thread))
        Running = nullptr;
      Threads.erase(X->thread);
    }
    return;
  default:
    return;
  }
}

} // namespace chronicle::model
