// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-state trace.db [seed]: goes through a (small) run from its first
// instruction to its last, one at a time, with one memory and no index; notes
// every write, and the registers and memory at random moments. Then asks the
// query engine about all of it, in random order and from several threads, and
// compares.

#include "Tally.h"
#include "query/BlockReplayer.h"
#include "query/TracePages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace chronicle;
using namespace llvm;

namespace {

/// Everything that wrote memory, as the plain replay saw it. What a mapping
/// changed is kept page by page.
struct SteppedWrite {
  Write W;
  uint32_t Mapped = 0;  ///< by which MAP or UNMAP: counts where bytes change
  bool Cleared = false; ///< zeros: whole pages count where bytes change
  uint32_t Translation; ///< which of SteppedRun::Translations held
};

struct Sample {
  Timestamp Time;
  uint32_t Running;
  std::map<uint32_t, GuestState> States;
  uint64_t Address;
  std::vector<uint8_t> Bytes;
  std::vector<bool> Mapped;
};

class SteppedRun : StoreObserver {
public:
  SteppedRun(const TraceReader &Reader, std::mt19937_64 &Random)
      : Reader(Reader), Random(Random), Pages(Reader), Memory(Pages, 0),
        Exits(Reader),
        Programs(Reader.superblockCount(),
                 [&](uint32_t Id) { return Reader.definition(Id).Bytes; }),
        Replayer(Memory, Programs, Exits) {
    Translations.emplace_back();
  }
  void run(size_t SampleCount);

  std::vector<SteppedWrite> Writes;
  std::vector<Sample> Samples;
  std::vector<std::vector<ReplayMemory::SharedRange>> Translations;

private:
  void store(uint32_t, uint64_t Address, uint32_t Size, const uint8_t *Old,
             const uint8_t *New) override;
  void event(const Event &E, Timestamp T);
  void finishEvent();
  void sample(Timestamp T);
  void map(uint64_t Address, uint64_t Length, bool Add);
  std::vector<uint8_t> bytes(uint64_t Address, uint64_t Size) {
    std::vector<uint8_t> Result(Size);
    Memory.read(Address, Result.data(), Size);
    return Result;
  }

  const TraceReader &Reader;
  std::mt19937_64 &Random;
  TracePages Pages;
  ReplayMemory Memory;
  ExitTable Exits;
  ProgramCache Programs;
  BlockReplayer Replayer;
  Timestamp Now = 0;
  uint64_t Pc = 0;
  uint32_t MapEvents = 0;
  size_t Unfinished = 0; ///< writes from here on lack New
  std::map<uint64_t, uint64_t> MappedRanges;
  std::map<uint32_t, GuestState> States;
  std::map<uint32_t, uint32_t> SystemCalls;
};

} // namespace

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

template <class T> static T payload(const Event &E) {
  T Value = {};
  std::memcpy(&Value, E.Payload.data(), std::min(E.Payload.size(), sizeof(T)));
  return Value;
}

/// What the last event wrote is known once it has happened.
void SteppedRun::finishEvent() {
  for (; Unfinished < Writes.size(); ++Unfinished) {
    SteppedWrite &N = Writes[Unfinished];
    N.W.New = bytes(N.W.Address, N.W.Old.size());
  }
  ArrayRef<ReplayMemory::SharedRange> Shared = Memory.sharedRanges();
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

void SteppedRun::event(const Event &E, Timestamp T) {
  finishEvent();
  SteppedWrite N;
  N.W.Time = T;
  N.Translation = uint32_t(Translations.size() - 1);
  auto Add = [&](uint64_t Address, uint64_t Length) {
    N.W.Address = Address;
    N.W.Old = bytes(Address, Length);
    Writes.push_back(N);
  };
  switch (E.Kind) {
  case CH_EV_SYSCALL_ENTER: {
    auto S = payload<ch_ev_syscall_enter>(E);
    SystemCalls[S.thread] = S.number;
    break;
  }
  case CH_EV_MEMORY: {
    auto M = payload<ch_ev_memory>(E);
    N.W.Thread = M.thread;
    static const Writer By[] = {
        Writer::Core,   Writer::Mapping, Writer::Mapping, Writer::SystemCall,
        Writer::Signal, Writer::Thread,  Writer::Core};
    N.W.By = By[M.source];
    if (N.W.By == Writer::SystemCall)
      N.W.SystemCall = SystemCalls[M.thread];
    N.Cleared = M.flags & CH_MEM_ZERO;
    Add(M.address, M.length);
    break;
  }
  case CH_EV_OUTSIDE_WRITE: {
    auto O = payload<ch_ev_outside_write>(E);
    N.W.By = Writer::Outside;
    Add(O.address, O.length);
    break;
  }
  case CH_EV_MAP:
  case CH_EV_UNMAP: {
    uint64_t Address, Length;
    if (E.Kind == CH_EV_MAP) {
      auto M = payload<ch_ev_map>(E);
      map(M.address, M.length, true);
      if (M.flags & CH_MAP_STACK)
        break;
      Address = M.address;
      Length = M.length;
      N.W.Thread = M.thread;
    } else {
      auto R = payload<ch_ev_range>(E);
      map(R.address, R.length, false);
      Address = R.address;
      Length = R.length;
      N.W.Thread = R.thread;
    }
    if (Length == 0)
      break;
    N.W.By = Writer::Mapping;
    N.Mapped = ++MapEvents;
    const uint64_t First = Address >> 12, Last = (Address + Length - 1) >> 12;
    std::set<uint64_t> Touched;
    Pages.visitFrames(First, Last, [&](uint64_t P) { Touched.insert(P); });
    ch_ev_map M = payload<ch_ev_map>(E);
    const bool ToShared = E.Kind == CH_EV_MAP && M.flags & CH_MAP_SHARED;
    for (uint64_t P = First; P <= Last && P - First < 100000; ++P)
      if (ToShared || Memory.find(P) || Memory.frameAt(P << 12) >= SharedFrames)
        Touched.insert(P);
    for (uint64_t P : Touched)
      Add(P << 12, 4096);
    break;
  }
  default:
    break;
  }
}

void SteppedRun::sample(Timestamp T) {
  finishEvent();
  Sample S;
  S.Time = T;
  S.Running = Replayer.thread();
  for (uint32_t Thread : Replayer.threads())
    std::memcpy(States[Thread].data(), Replayer.state(Thread),
                CH_GUEST_STATE_SIZE);
  S.States = States;
  // Near something that was written, or at the edge of a mapping.
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

void SteppedRun::run(size_t SampleCount) {
  const uint64_t Chance =
      std::max<uint64_t>(1, Reader.instructions() / SampleCount);
  Replayer.Observer = this;
  Replayer.OnEvent = [&](const Event &E, Timestamp T) { event(E, T); };
  Replayer.OnMismatch = [](const Mismatch &M) { failed(M.What); };
  for (BlockNumber N = 0; N < Reader.blocks().size(); ++N) {
    Expected<Block> B = Reader.readBlock(N);
    if (!B)
      return failed(toString(B.takeError()));
    // The stack's growth holds from the start of its block.
    for (const Event &E : B->Events)
      if (auto M = payload<ch_ev_map>(E);
          E.Kind == CH_EV_MAP && M.flags & CH_MAP_STACK)
        map(M.address, M.length, true);
    Replayer.start(*B);
    const Timestamp End = B->First + B->Instructions;
    for (Timestamp T = B->First; T <= End; ++T) {
      // On the way to the state at T, instruction T - 1 runs.
      Now = T == B->First ? T : T - 1;
      if (const uint8_t *State = Replayer.state(Replayer.thread()))
        Pc = loadValue<uint64_t>(State + CH_OFFSET_RIP);
      if (!Replayer.runTo(T))
        return;
      const bool Last = T == End && N + 1 == Reader.blocks().size();
      if ((T < End && Random() % Chance == 0) || Last)
        sample(T);
    }
    finishEvent();
    for (uint32_t Thread : Replayer.threads())
      std::memcpy(States[Thread].data(), Replayer.state(Thread),
                  CH_GUEST_STATE_SIZE);
  }
}

/// The bytes of the write that are in the range, through whatever address.
static bool touches(const SteppedRun &Run, const SteppedWrite &N,
                    AddressRange Range, uint64_t Offset = 0,
                    uint64_t Size = ~uint64_t(0)) {
  const uint64_t First = N.W.Address + Offset;
  const uint64_t Last =
      N.W.Address + std::min<uint64_t>(Offset + Size, N.W.Old.size()) - 1;
  if (First <= Range.Last && Last >= Range.First)
    return true;
  const auto &Shared = Run.Translations[N.Translation];
  for (const auto &Mine : Shared)
    for (const auto &Theirs : Shared) {
      if (Mine.Frame >> SharedObjectShift != Theirs.Frame >> SharedObjectShift)
        continue;
      // Where the write would be, seen through the other mapping.
      const uint64_t Moved =
          (Theirs.First - Mine.First + Mine.Frame - Theirs.Frame) << 12;
      const uint64_t From = std::max(First, Mine.First << 12),
                     To = std::min(Last, (Mine.Last << 12) + 4095);
      if (From > To)
        continue;
      const uint64_t A = std::max(From + Moved, Theirs.First << 12),
                     B = std::min(To + Moved, (Theirs.Last << 12) + 4095);
      if (A <= B && A <= Range.Last && B >= Range.First)
        return true;
    }
  return false;
}

static bool countsCleared(const SteppedRun &Run, const SteppedWrite &N,
                          AddressRange Range) {
  const uint64_t First = N.W.Address, End = First + N.W.Old.size();
  for (uint64_t A = First; A < End; ++A) {
    const uint64_t Page = A & ~uint64_t(4095);
    const bool Whole = Page >= First && Page + 4096 <= End;
    if ((!Whole || N.W.Old[A - First]) && touches(Run, N, Range, A - First, 1))
      return true;
  }
  return false;
}

static std::vector<Write> expectedWrites(const SteppedRun &Run,
                                         AddressRange Range, TimeRange When) {
  std::vector<Write> Result;
  uint32_t LastMapping = 0;
  for (const SteppedWrite &N : Run.Writes) {
    const Write &W = N.W;
    if (W.Time < When.First || W.Time > When.Last)
      continue;
    if (!N.Mapped) {
      if (touches(Run, N, Range) &&
          (!N.Cleared || countsCleared(Run, N, Range)))
        Result.push_back(W);
      continue;
    }
    const uint64_t From = std::max(W.Address, Range.First),
                   To = std::min(W.Address + 4095, Range.Last);
    if (From > To)
      continue;
    auto Cut = [&](const std::vector<uint8_t> &Bytes) {
      return std::vector<uint8_t>(Bytes.begin() + (From - W.Address),
                                  Bytes.begin() + (To - W.Address + 1));
    };
    std::vector<uint8_t> Old = Cut(W.Old), New = Cut(W.New);
    if (Old == New)
      continue;
    if (LastMapping == N.Mapped && !Result.empty() &&
        Result.back().Address + Result.back().Old.size() == From) {
      Write &Whole = Result.back();
      Whole.Old.insert(Whole.Old.end(), Old.begin(), Old.end());
      Whole.New.insert(Whole.New.end(), New.begin(), New.end());
      continue;
    }
    LastMapping = N.Mapped;
    Result.push_back(W);
    Result.back().Address = From;
    Result.back().Old = std::move(Old);
    Result.back().New = std::move(New);
  }
  return Result;
}

static std::string text(const Write &W) {
  return formatv("[time {0} thread {1} by {2} call {3} pc {4:x} address {5:x} "
                 "old {6} new {7}]",
                 W.Time, W.Thread, int(W.By), W.SystemCall, W.Pc, W.Address,
                 toHex(ArrayRef(W.Old).take_front(32)),
                 toHex(ArrayRef(W.New).take_front(32)));
}

static bool same(const Write &A, const Write &B) {
  return A.Time == B.Time && A.Thread == B.Thread && A.By == B.By &&
         (A.By != Writer::Instruction || A.Pc == B.Pc) &&
         A.Address == B.Address && A.Old == B.Old && A.New == B.New &&
         A.SystemCall == B.SystemCall;
}

static void checkWrites(const Trace &T, const SteppedRun &Run,
                        std::mt19937_64 &Random) {
  const SteppedWrite &Seed = Run.Writes[Random() % Run.Writes.size()];
  AddressRange Range;
  Range.First = Seed.W.Address + Random() % Seed.W.Old.size();
  static const uint64_t Lengths[] = {1, 1, 4, 8, 16, 64, 5000, 1 << 20};
  Range.Last = Range.First + Lengths[Random() % std::size(Lengths)] - 1;
  TimeRange When;
  if (Random() % 3) {
    When.First = Random() % (T.instructions() + 1);
    When.Last = When.First + Random() % (T.instructions() + 1);
    if (Random() % 4 == 0)
      When.First = When.Last = Seed.W.Time;
  }
  const bool Backward = Random() % 2;
  std::vector<Write> Expected = expectedWrites(Run, Range, When);
  if (Backward)
    std::reverse(Expected.begin(), Expected.end());
  const size_t Limit = Random() % 2 ? 1 : 2000;
  size_t Count = 0;
  auto Where = [&] {
    return formatv("writes {0:x}-{1:x} in {2}-{3}{4}: ", Range.First,
                   Range.Last, When.First, When.Last,
                   Backward ? " backward" : "")
        .str();
  };
  Error E = T.writes(Range, When, Backward, [&](const Write &W) {
    expect(Count < Expected.size() && same(W, Expected[Count]), [&] {
      return Where() + "number " + utostr(Count) + " is " + text(W) +
             ", expected " +
             (Count < Expected.size() ? text(Expected[Count]) : "no more");
    });
    return ++Count < Limit;
  });
  if (E)
    return failed(Where() + toString(std::move(E)));
  expect(Count == std::min(Limit, Expected.size()), [&] {
    return Where() + utostr(Count) + " found, there are " +
           utostr(Expected.size()) + "; next " +
           (Count < Expected.size() ? text(Expected[Count]) : "none");
  });
}

static void checkSample(const Trace &T, const Sample &S) {
  auto Where = [&] { return "at " + utostr(S.Time) + ": "; };
  Expected<uint32_t> Running = T.threadAt(S.Time);
  if (!Running)
    return failed(Where() + toString(Running.takeError()));
  expect(*Running == S.Running, [&] { return Where() + "wrong thread"; });
  Expected<std::vector<ThreadInfo>> Alive = T.threads(S.Time);
  if (!Alive)
    return failed(Where() + toString(Alive.takeError()));
  for (const ThreadInfo &I : *Alive) {
    Expected<Registers> R = T.registers(I.Number, S.Time);
    if (!R) {
      failed(Where() + "thread " + Twine(I.Number) + ": " +
             toString(R.takeError()));
      continue;
    }
    auto Known = S.States.find(I.Number);
    if (Known == S.States.end())
      continue; // never ran so far
    std::string Difference =
        describeDifference(R->State.data(), Known->second.data());
    expect(Difference.empty(), [&] {
      return Where() + "thread " + utostr(I.Number) + ": " + Difference;
    });
  }
  Expected<MemoryContents> M = T.memory(S.Address, S.Bytes.size(), S.Time);
  if (!M)
    return failed(Where() + toString(M.takeError()));
  std::vector<bool> Mapped(S.Bytes.size());
  for (auto [From, To] : M->Mapped)
    std::fill(Mapped.begin() + From, Mapped.begin() + To, true);
  expect(Mapped == S.Mapped, [&] {
    return Where() + "other parts are mapped at " + utohexstr(S.Address);
  });
  expect(M->Bytes == S.Bytes, [&] {
    return Where() + "memory at " + utohexstr(S.Address) + " is " +
           toHex(M->Bytes) + ", expected " + toHex(S.Bytes);
  });
}

/// The programs that the trace holds are those that its definitions make.
static uint64_t checkPrograms(const TraceReader &Reader) {
  StoredPrograms Stored =
      StoredPrograms::create(Reader.programs(), ReplayProgram::version());
  uint64_t Found = 0;
  for (uint32_t Id = 1; Id < Reader.superblockCount(); ++Id) {
    ArrayRef<uint8_t> Bytes = Stored.find(Id);
    if (Bytes.empty())
      continue;
    ++Found;
    auto Built =
        ReplayProgram::create(Reader.definition(Id).Bytes, ProgramForm::Fast);
    const ReplayProgram *P =
        ReplayProgram::at(Bytes, Reader.superblockAddresses()[Id]);
    expect(Built && P && P->bytes() == (*Built)->bytes(), [&] {
      return "the program of superblock " + utostr(Id) + " is another";
    });
    if (!Built)
      consumeError(Built.takeError());
  }
  return Found;
}

int main(int Argc, char **Argv) {
  const uint64_t Seed = argument(Argc, Argv, 2, 1);
  const uint64_t Queries = argument(Argc, Argv, 3, 300);
  TraceOptions Options;
  Options.CacheBytes = argument(Argc, Argv, 4, Options.CacheBytes);
  std::unique_ptr<Trace> T =
      openTrace(Argc, Argv, 1,
                "check-state trace.db [seed [queries [cache-bytes]]]", Options);
  if (!T)
    return 2;
  std::mt19937_64 Random(Seed);
  SteppedRun Run(T->reader(), Random);
  Run.run(2000);
  std::shuffle(Run.Samples.begin(), Run.Samples.end(), Random);
  auto Work = [&](size_t First, uint64_t WorkSeed) {
    std::mt19937_64 Mine(WorkSeed);
    for (size_t I = First; I < Run.Samples.size(); I += 2)
      checkSample(*T, Run.Samples[I]);
    for (uint64_t I = First; I < Queries && !Run.Writes.empty(); I += 2)
      checkWrites(*T, Run, Mine);
  };
  const uint64_t Programs = checkPrograms(T->reader());
  std::thread Other(Work, 1, Seed + 1);
  Work(0, Seed);
  Other.join();
  return finish(utostr(Run.Samples.size()) + " moments, " +
                utostr(Run.Writes.size()) + " writes, " + utostr(Programs) +
                " stored programs");
}
