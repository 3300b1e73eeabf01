// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "trace-format/CallFollower.h"
#include "trace-format/GuestState.h"
#include "trace-format/Stream.h"
#include "llvm/Support/Endian.h"
#include <cstring>

using namespace llvm;

namespace chronicle {

template <typename T> static T fixedPart(ArrayRef<uint8_t> Payload) {
  T Value = {};
  std::memcpy(&Value, Payload.data(), std::min(Payload.size(), sizeof(T)));
  return Value;
}

CallFollower::Thread *CallFollower::find(uint32_t Number) {
  auto It = Threads.find(Number);
  return It == Threads.end() ? nullptr : It->second.get();
}

CallTracker *CallFollower::thread(uint32_t Number) {
  Thread *T = find(Number);
  return T ? &T->Calls : nullptr;
}

void CallFollower::add(uint32_t Number, CallTracker Calls) {
  Threads[Number] = std::make_unique<Thread>(std::move(Calls));
  Threads[Number]->Changed = false;
}

std::vector<uint32_t> CallFollower::takeChanged() {
  std::vector<uint32_t> Changed;
  for (auto &[Number, T] : Threads) {
    if (T->Changed)
      Changed.push_back(Number);
    T->Changed = T.get() == Running;
  }
  return Changed;
}

void CallFollower::registers(Thread &T, ArrayRef<uint8_t> Payload,
                             Timestamp When) {
  auto Head = fixedPart<ch_ev_registers>(Payload);
  ArrayRef<uint8_t> Words = Payload.drop_front(sizeof(Head));
  uint64_t To = T.Calls.stackPointer();
  for (; Words.size() >= 16; Words = Words.drop_front(16))
    if (support::endian::read64le(Words.data()) == CH_OFFSET_RSP)
      To = support::endian::read64le(Words.data() + 8);
  if (T.SignalComes)
    T.Calls.signal(To, T.OnSignalStack, When);
  else if (To != T.Calls.stackPointer())
    // An instruction that faulted may have moved the stack pointer a little.
    T.Calls.set(To, T.Faulted, When);
  T.SignalComes = T.Faulted = false;
  T.Changed = true;
}

void CallFollower::event(uint32_t Kind, ArrayRef<uint8_t> Payload,
                         Timestamp When) {
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
      T->Calls.set(To, false, When);
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
    auto Signal = fixedPart<ch_ev_signal>(Payload);
    if (T && !(Signal.flags & CH_SIG_FATAL)) {
      T->SignalComes = true;
      T->OnSignalStack = Signal.flags & CH_SIG_ALT_STACK;
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
