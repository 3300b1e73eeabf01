// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NaiveRun.h"
#include "trace-format/GuestState.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle {

static constexpr uint64_t MainStack = 1; // as a region

static uint64_t wordAt(const uint8_t *State, unsigned Offset) {
  return support::endian::read64le(State + Offset);
}
template <class T> static T payload(const Event &E) {
  T Value = {};
  std::memcpy(&Value, E.Payload.data(), std::min(E.Payload.size(), sizeof(T)));
  return Value;
}

NaiveRun::NaiveRun(const TraceReader &Trace)
    : Trace(Trace), Pages(Trace), Memory(Pages, 0),
      Programs(Trace.superblockCount(),
               [&Trace](uint32_t Id) { return Trace.definition(Id).Bytes; }),
      Exits(Trace), Replayer(Memory, Programs, Exits) {
  Replayer.OnMismatch = [this](const Mismatch &M) {
    errs() << "replay: " << M.What << '\n';
    Sound = false;
  };
  Replayer.OnEvent = [this](const Event &E, Timestamp T) { event(E, T); };
}

bool NaiveRun::run() {
  for (BlockNumber N = 0; N < Trace.blocks().size() && Sound; ++N) {
    Expected<Block> B = Trace.readBlock(N);
    if (!B) {
      errs() << toString(B.takeError()) << '\n';
      return false;
    }
    // Every block from its own pages: bytes given by reference are only there.
    Memory.reset(N);
    mapSharedObjects(Trace, N, Memory);
    Replayer.start(*B);
    for (Timestamp T = B->First; Sound; ++T) {
      if (!Replayer.runTo(T))
        return false;
      if (T == B->First + B->Instructions)
        break;
      uint32_t Thread = Replayer.thread();
      const uint8_t *State = Replayer.state(Thread);
      uint64_t Pc = wordAt(State, CH_OFFSET_RIP);
      instruction(T, Thread, Pc);
    }
  }
  return Sound;
}

uint64_t NaiveRun::regionOf(uint64_t Address, const Thread &T) const {
  auto It = Regions.upper_bound(Address);
  if (It != Regions.begin() && Address <= (--It)->second.first)
    return It->second.second;
  return T.Current; // the main stack before its growth is told of
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

/// The stack pointer changes; in the stack it is in then, what is below is
/// over.
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

/// Before the instruction at T runs: what the one before did is seen now.
void NaiveRun::instruction(Timestamp T, uint32_t Number, uint64_t Pc) {
  Thread &Now = Threads[Number];
  if (Now.Stacks[Now.Current].Frames.size()) {
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
  // To just after it: the events there are told to event(), which sees the
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

void NaiveRun::event(const Event &E, Timestamp When) {
  switch (E.Kind) {
  case CH_EV_MAP: {
    auto M = payload<ch_ev_map>(E);
    uint64_t Key = M.flags & CH_MAP_STACK ? MainStack : M.address;
    Regions[M.address] = {M.address + M.length, Key};
    return;
  }
  case CH_EV_SNAPSHOT: {
    auto S = payload<ch_ev_snapshot>(E);
    if (Threads.count(S.thread))
      return;
    Thread &T = Threads[S.thread];
    moved(T, S.thread, wordAt(E.Payload.data() + sizeof(S), CH_OFFSET_RSP),
          When);
    return;
  }
  case CH_EV_SIGNAL: {
    auto S = payload<ch_ev_signal>(E);
    if (S.flags & CH_SIG_FATAL)
      return;
    Threads[S.thread].Signals.push_back(S.flags & CH_SIG_ALT_STACK);
    Threads[S.thread].SignalFrames.push_back(0);
    return;
  }
  case CH_EV_MEMORY: {
    auto M = payload<ch_ev_memory>(E);
    if (M.source == CH_MEM_SIGNAL && Threads[M.thread].SignalFrames.size() &&
        !Threads[M.thread].SignalFrames.back())
      Threads[M.thread].SignalFrames.back() = M.address;
    return;
  }
  case CH_EV_REGISTERS: {
    auto R = payload<ch_ev_registers>(E);
    Thread &T = Threads[R.thread];
    const uint8_t *Words = E.Payload.data() + sizeof(R);
    uint64_t To = T.StackPointer;
    uint64_t Rip = wordAt(Replayer.state(R.thread), CH_OFFSET_RIP);
    for (uint32_t I = 0; I < R.count; ++I, Words += 16)
      if (support::endian::read64le(Words) == CH_OFFSET_RSP)
        To = support::endian::read64le(Words + 8);
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
    return;
  }
  case CH_EV_THREAD_EXIT:
    Threads.erase(payload<ch_ev_thread>(E).thread);
    return;
  default:
    return;
  }
}

std::vector<size_t> NaiveRun::stack(uint32_t Number) const {
  const Thread &T = Threads.at(Number);
  std::vector<size_t> Result;
  const Stack *S = &T.Stacks.at(T.Current);
  // The handler has returned, but its signal stack is not left yet.
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
