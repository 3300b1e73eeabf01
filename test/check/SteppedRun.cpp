// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SteppedRun.h"
#include "Tally.h"
#include "trace-format/GuestState.h"
#include "trace-format/events/Events.h"
#include <set>

using namespace llvm;

namespace chronicle {

SteppedRun::SteppedRun(const file::TraceReader &Trace, std::mt19937_64 &Random)
    : SteppedReplay(Trace), Random(Random) {
  Translations.emplace_back();
}

void SteppedRun::failed(const Twine &What) { chronicle::failed(What); }

void SteppedRun::store(uint32_t, uint64_t Address, uint32_t Size,
                       const uint8_t *Old, const uint8_t *New) {
  SteppedWrite N;
  N.W.Time = Now;
  N.W.Thread = Replayer.thread();
  N.W.Pc = Pc;
  N.W.Address = Address;
  N.W.Old.assign(Old, Old + Size);
  N.W.New.assign(New, New + Size);
  N.Translation = uint32_t(Translations.size() - 1);
  Writes.push_back(std::move(N));
  Unfinished = Writes.size();
}

/// Fills in what the last event wrote: known only after it took effect.
void SteppedRun::finishEvent() {
  for (; Unfinished < Writes.size(); ++Unfinished) {
    SteppedWrite &N = Writes[Unfinished];
    N.W.New = bytes(N.W.Address, N.W.Old.size());
  }
  ArrayRef<machine::ReplayMemory::SharedRange> Shared = Memory.sharedRanges();
  auto Same = [](const auto &A, const auto &B) {
    return A.First == B.First && A.Last == B.Last && A.Frame == B.Frame;
  };
  if (!std::equal(Shared.begin(), Shared.end(), Translations.back().begin(),
                  Translations.back().end(), Same))
    Translations.push_back(Shared.vec());
}

void SteppedRun::map(uint64_t Address, uint64_t Length, bool Add) {
  const uint64_t End = Address + Length;
  std::map<uint64_t, uint64_t> Rest;
  for (auto [From, To] : MappedRanges) {
    if (From < Address)
      Rest[From] = std::min(To, Address);
    if (To > End)
      Rest[std::max(From, End)] = To;
  }
  if (Add)
    Rest[Address] = End;
  MappedRanges = std::move(Rest);
}

void SteppedRun::add(SteppedWrite N, uint64_t Address, uint64_t Length) {
  N.W.Address = Address;
  N.W.Old = bytes(Address, Length);
  Writes.push_back(std::move(N));
}

/// Notes what a mapping or an unmapping changes.
void SteppedRun::mapping(const Event &E, SteppedWrite N) {
  uint64_t Address, Length;
  bool ToShared = false;
  if (auto M = E.as<events::MapEvent>()) {
    map(M->address, M->length, true);
    if (M->flags & CH_MAP_STACK)
      return;
    Address = M->address;
    Length = M->length;
    N.W.Thread = M->thread;
    ToShared = M->isShared();
  } else if (auto R = E.as<events::UnmapEvent>()) {
    map(R->address, R->length, false);
    Address = R->address;
    Length = R->length;
    N.W.Thread = R->thread;
  } else {
    return;
  }
  if (Length == 0)
    return;
  N.W.By = answers::Writer::Mapping;
  N.Mapped = ++MapEvents;
  const uint64_t First = Address >> 12, Last = (Address + Length - 1) >> 12;
  std::set<uint64_t> Touched;
  Pages.visitFrames(First, Last, [&](uint64_t P) { Touched.insert(P); });
  for (uint64_t P = First; P <= Last && P - First < 100000; ++P)
    if (ToShared || Memory.find(P) || Memory.frameAt(P << 12) >= SharedFrames)
      Touched.insert(P);
  for (uint64_t P : Touched)
    add(N, P << 12, 4096);
}

void SteppedRun::event(const Event &E, Timestamp T) {
  finishEvent();
  SteppedWrite N;
  N.W.Time = T;
  N.Translation = uint32_t(Translations.size() - 1);
  if (auto S = E.as<events::SyscallEnterEvent>()) {
    SystemCalls[S->thread] = S->number;
  } else if (auto M = E.as<events::MemoryEvent>()) {
    N.W.Thread = M->thread;
    static const answers::Writer By[] = {
        answers::Writer::Core,    answers::Writer::Mapping,
        answers::Writer::Mapping, answers::Writer::SystemCall,
        answers::Writer::Signal,  answers::Writer::Thread,
        answers::Writer::Core};
    N.W.By = By[M->source];
    if (N.W.By == answers::Writer::SystemCall)
      N.W.SystemCall = SystemCalls[M->thread];
    N.Cleared = M->flags & CH_MEM_ZERO;
    add(N, M->address, M->length);
  } else if (auto O = E.as<events::OutsideWriteEvent>()) {
    N.W.By = answers::Writer::Outside;
    add(N, O->address, O->length);
  } else {
    mapping(E, N);
  }
}

void SteppedRun::noteStates() {
  for (uint32_t Thread : Replayer.threads())
    std::memcpy(States[Thread].data(), Replayer.state(Thread),
                CH_GUEST_STATE_SIZE);
}

void SteppedRun::sample(Timestamp T) {
  finishEvent();
  Sample S;
  S.Time = T;
  S.Running = Replayer.thread();
  noteStates();
  S.States = States;
  // Reads near something that was written, or at the edge of a mapping.
  S.Address = 0x1000;
  if (Random() % 4 == 0 && !MappedRanges.empty()) {
    auto It = MappedRanges.begin();
    std::advance(It, Random() % MappedRanges.size());
    S.Address = (Random() % 2 ? It->first : It->second) - Random() % 300;
  } else if (!Writes.empty()) {
    size_t Back = 1 + Random() % std::min<size_t>(Writes.size(), 5000);
    S.Address = Writes[Writes.size() - Back].W.Address - Random() % 64;
  }
  S.Bytes = bytes(S.Address, 1 + Random() % 500);
  for (uint64_t I = 0; I < S.Bytes.size(); ++I) {
    auto It = MappedRanges.upper_bound(S.Address + I);
    S.Mapped.push_back(It != MappedRanges.begin() &&
                       S.Address + I < std::prev(It)->second);
    if (!S.Mapped.back())
      S.Bytes[I] = 0;
  }
  Samples.push_back(std::move(S));
}

void SteppedRun::startBlock(const Block &B) {
  // The stack's growth holds from the start of its block.
  for (const Event &E : B.Events)
    if (auto M = E.as<events::MapEvent>(); M && M->flags & CH_MAP_STACK)
      map(M->address, M->length, true);
}

void SteppedRun::beforeStep(Timestamp T, const Block &B) {
  Now = T == B.First ? T : T - 1;
  if (const uint8_t *State = Replayer.state(Replayer.thread()))
    Pc = wordAt(State, CH_OFFSET_RIP);
}

bool SteppedRun::afterStep(Timestamp T, const Block &B) {
  const bool End = isEnd(T, B);
  const bool Last = End && B.Number + 1 == Trace.blocks().size();
  if ((!End && Random() % Chance == 0) || Last)
    sample(T);
  return true;
}

void SteppedRun::endBlock(const Block &) {
  finishEvent();
  noteStates();
}

void SteppedRun::run(size_t SampleCount) {
  Chance = std::max<uint64_t>(1, Trace.instructions() / SampleCount);
  Replayer.Observer = this;
  stepThrough();
}

} // namespace chronicle
