// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NaiveRun.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle {

static constexpr uint64_t MainStack = 1; // as a region

void NaiveRun::failed(const Twine &What) {
  errs() << What << '\n';
  Sound = false;
}

void NaiveRun::startBlock(const Block &B) {
  // Every block from its own pages: bytes given by reference are only there.
  Memory.reset(B.Number);
  replay::mapSharedObjects(Trace, B.Number, Memory);
}

bool NaiveRun::afterStep(Timestamp T, const Block &B) {
  if (!isEnd(T, B)) {
    const uint32_t Thread = Replayer.thread();
    instruction(T, Thread, wordAt(Replayer.state(Thread), CH_OFFSET_RIP));
  }
  return Sound;
}

uint64_t NaiveRun::regionOf(uint64_t Address, const Thread &T) const {
  auto It = Regions.upper_bound(Address);
  if (It != Regions.begin() && Address <= (--It)->second.first)
    return It->second.second;
  return T.Current; // the main stack, before its growth is logged
}

void NaiveRun::drop(Stack &S, uint64_t Above, Timestamp When) {
  while (!S.Frames.empty() && !Frames[S.Frames.back()].First &&
         Frames[S.Frames.back()].Slot < Above) {
    Frames[S.Frames.back()].End = When;
    S.Frames.pop_back();
  }
}

size_t NaiveRun::push(Thread &T, uint32_t Number, NaiveFrame F) {
  Stack &S = T.Stacks[T.Current];
  F.Thread = Number;
  if (!S.Frames.empty())
    F.Parent = S.Frames.back();
  else if (S.Interrupted)
    F.Parent = T.Stacks[S.Interrupted].Frames.back();
  Frames.push_back(F);
  S.Frames.push_back(Frames.size() - 1);
  return Frames.size() - 1;
}

/// Follows a change of the stack pointer. Calls below it in its stack are over.
void NaiveRun::moved(Thread &T, uint32_t Number, uint64_t To, Timestamp When) {
  uint64_t Region = regionOf(To, T);
  T.StackPointer = To;
  if (Region != T.Current) {
    uint64_t Left = T.Current;
    T.Current = Region;
    if (T.Stacks[Left].Interrupted) {
      for (size_t F : T.Stacks[Left].Frames)
        Frames[F].End = When;
      T.Stacks.erase(Left);
    }
  }
  Stack &S = T.Stacks[T.Current];
  if (S.Frames.empty() && !S.Interrupted) {
    NaiveFrame F;
    F.First = true;
    push(T, Number, F);
  }
  drop(S, To, When);
}

bool NaiveRun::isCall(uint64_t Pc) {
  uint8_t Bytes[8];
  Memory.read(Pc, Bytes, sizeof(Bytes));
  unsigned At = 0;
  while (At < 6 &&
         (Bytes[At] == 0x66 || Bytes[At] == 0xf2 || Bytes[At] == 0xf3 ||
          Bytes[At] == 0x2e || Bytes[At] == 0x3e || (Bytes[At] & 0xf0) == 0x40))
    ++At;
  return Bytes[At] == 0xe8 ||
         (Bytes[At] == 0xff && (Bytes[At + 1] >> 3 & 7) == 2);
}

/// Called before the instruction at T runs; runs it and looks at what it did.
void NaiveRun::instruction(Timestamp T, uint32_t Number, uint64_t Pc) {
  Thread &Now = Threads[Number];
  if (!Now.Stacks[Now.Current].Frames.empty()) {
    NaiveFrame &F = Frames[Now.Stacks[Now.Current].Frames.back()];
    if (!F.Entered) {
      F.Entered = true;
      F.Entry = T;
      F.Callee = Pc;
    }
  }
  if (OnInstruction)
    OnInstruction(T, Number, Pc);
  bool Call = isCall(Pc);
  // Runs to just after it. event() is called for the events there, and sees the
  // state before each of them.
  Now.Rip = Pc;
  struct {
    bool Done = false;
  } After;
  auto Look = [&] {
    if (After.Done)
      return;
    After.Done = true;
    const uint8_t *State = Replayer.state(Number);
    uint64_t To = wordAt(State, CH_OFFSET_RSP);
    moved(Now, Number, To, T + 1);
    if (Call) {
      NaiveFrame F;
      F.Slot = To;
      F.CallSite = Pc;
      F.Entry = T + 1;
      drop(Now.Stacks[Now.Current], To + 1, T + 1);
      push(Now, Number, F);
    }
  };
  auto Old = Replayer.OnEvent;
  Replayer.OnEvent = [&](const Event &E, Timestamp When) {
    if (When > T)
      Look();
    event(E, When);
  };
  Replayer.runTo(T + 1);
  Replayer.OnEvent = Old;
  Look();
}

/// A change of registers: the entry of signal handlers, or another change of
/// the stack pointer.
void NaiveRun::registers(const events::RegistersEvent &R, Timestamp When) {
  Thread &T = Threads[R.thread];
  uint64_t To = T.StackPointer;
  uint64_t Rip = wordAt(Replayer.state(R.thread), CH_OFFSET_RIP);
  for (uint32_t I = 0; I < R.count; ++I)
    if (R.change(I).Offset == CH_OFFSET_RSP)
      To = R.change(I).Value;
  for (size_t I = 0; I < T.Signals.size(); ++I) {
    uint64_t At = I + 1 < T.Signals.size() ? T.SignalFrames[I] : To;
    NaiveFrame F;
    F.Slot = At;
    F.Signal = true;
    F.Entry = When;
    F.Interrupted = I ? 0 : Rip;
    uint64_t Before = T.Current;
    T.StackPointer = At;
    uint64_t Region = regionOf(At, T);
    if (Region != Before) {
      T.Current = Region;
      T.Stacks[Region].Interrupted = Before;
    }
    push(T, R.thread, F);
  }
  bool Signalled = !T.Signals.empty();
  T.Signals.clear();
  T.SignalFrames.clear();
  if (!Signalled && To != T.StackPointer)
    moved(T, R.thread, To, When);
}

void NaiveRun::event(const Event &E, Timestamp When) {
  if (auto M = E.as<events::MapEvent>()) {
    uint64_t Key = M->flags & CH_MAP_STACK ? MainStack : M->address;
    Regions[M->address] = {M->address + M->length, Key};
  } else if (auto S = E.as<events::SnapshotEvent>()) {
    if (!Threads.count(S->thread))
      moved(Threads[S->thread], S->thread, S->word(CH_OFFSET_RSP), When);
  } else if (auto S = E.as<events::SignalEvent>()) {
    if (S->flags & CH_SIG_FATAL)
      return;
    Threads[S->thread].Signals.push_back(S->flags & CH_SIG_ALT_STACK);
    Threads[S->thread].SignalFrames.push_back(0);
  } else if (auto M = E.as<events::MemoryEvent>()) {
    if (M->source == CH_MEM_SIGNAL &&
        !Threads[M->thread].SignalFrames.empty() &&
        !Threads[M->thread].SignalFrames.back())
      Threads[M->thread].SignalFrames.back() = M->address;
  } else if (auto R = E.as<events::RegistersEvent>()) {
    registers(*R, When);
  } else if (auto X = E.as<events::ThreadExitEvent>()) {
    Threads.erase(X->thread);
  }
}

std::vector<size_t> NaiveRun::stack(uint32_t Number) const {
  const Thread &T = Threads.at(Number);
  std::vector<size_t> Result;
  const Stack *S = &T.Stacks.at(T.Current);
  // The handler has returned, but the thread has not left its signal stack yet.
  if (S->Frames.empty() && S->Interrupted)
    S = &T.Stacks.at(S->Interrupted);
  if (S->Frames.empty())
    return Result;
  for (size_t F = S->Frames.back(); F != ~size_t(0); F = Frames[F].Parent)
    Result.push_back(F);
  return Result;
}

std::vector<uint32_t> NaiveRun::threads() const {
  std::vector<uint32_t> Result;
  for (auto &[Number, T] : Threads)
    Result.push_back(Number);
  return Result;
}

} // namespace chronicle
