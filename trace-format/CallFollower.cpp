// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/CallFollower.h"
#include "trace-format/Bytes.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;

namespace chronicle {

CallFollower::Thread *CallFollower::find(uint32_t Number) {
  auto It = Threads.find(Number);
  return It == Threads.end() ? nullptr : It->second.get();
}

CallTracker *CallFollower::thread(uint32_t Number) {
  Thread *T = find(Number);
  return T ? &T->Calls : nullptr;
}

ArrayRef<CallFollower::Signal> CallFollower::signalsOf(uint32_t Number) {
  Thread *T = find(Number);
  return T ? ArrayRef<Signal>(T->Signals) : ArrayRef<Signal>();
}

void CallFollower::add(uint32_t Number, CallTracker Calls,
                       ArrayRef<Signal> Signals) {
  auto T = std::make_unique<Thread>(std::move(Calls));
  T->Changed = false;
  T->Signals.append(Signals.begin(), Signals.end());
  Threads[Number] = std::move(T);
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

void CallFollower::registers(Thread &T, ArrayRef<uint8_t> Payload,
                             Timestamp When) {
  ArrayRef<uint8_t> Words =
      Payload.drop_front(std::min(Payload.size(), sizeof(ch_ev_registers)));
  uint64_t To = T.Calls.stackPointer();
  for (; Words.size() >= 16; Words = Words.drop_front(16))
    if (support::endian::read64le(Words.data()) == CH_OFFSET_RSP)
      To = support::endian::read64le(Words.data() + 8);
  if (!T.Signals.empty()) {
    // Several at once: each one's frame lies below that of the one before, and
    // the last one runs first.
    T.Signals.back().StackPointer = To;
    for (const Signal &S : T.Signals)
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

void CallFollower::event(uint32_t Kind, ArrayRef<uint8_t> Payload,
                         Timestamp When) {
  if (Kind == CH_EV_MEMORY) {
    auto Memory = fixedPart<ch_ev_memory>(Payload);
    Thread *T = Memory.source == CH_MEM_SIGNAL ? find(Memory.thread) : nullptr;
    // Its first part begins where the handler's stack pointer will be.
    if (T && !T->Signals.empty() && !T->Signals.back().StackPointer)
      T->Signals.back().StackPointer = Memory.address;
    return;
  }
  // All the kinds below begin with the thread's number.
  if (Payload.size() < 4)
    return;
  uint32_t Number = support::endian::read32le(Payload.data());
  Thread *T = find(Number);
  switch (Kind) {
  case CH_EV_SNAPSHOT: {
    if (Payload.size() < sizeof(ch_ev_snapshot) + CH_GUEST_STATE_SIZE)
      return;
    uint64_t To = support::endian::read64le(
        Payload.data() + sizeof(ch_ev_snapshot) + CH_OFFSET_RSP);
    if (!T) {
      Threads[Number] = std::make_unique<Thread>(CallTracker(To, When));
    } else if (T->Calls.stackPointer() != To) {
      ++Surprises;
      T->Calls.set(To, When);
    }
    return;
  }
  case CH_EV_RESUME:
    Running = T;
    if (T)
      T->Changed = true;
    return;
  case CH_EV_REGISTERS:
    if (T)
      registers(*T, Payload, When);
    return;
  case CH_EV_FAULT:
    if (T)
      T->Faulted = true;
    return;
  case CH_EV_SIGNAL: {
    uint32_t Flags = fixedPart<ch_ev_signal>(Payload).flags;
    if (T && !(Flags & CH_SIG_FATAL)) {
      T->Signals.push_back({0, (Flags & CH_SIG_ALT_STACK) != 0});
      T->Changed = true;
    }
    return;
  }
  case CH_EV_THREAD_EXIT:
    if (T && T == Running)
      Running = nullptr;
    Threads.erase(Number);
    return;
  default:
    return;
  }
}

} // namespace chronicle
