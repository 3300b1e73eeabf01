// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-state trace.db [seed [queries [cache-bytes]]]: steps through a (small)
// run and notes every write, and the registers and memory at random moments.
// Then asks the query engine about all of it, in random order and from several
// threads, and compares.

#include "SteppedRun.h"
#include "Tally.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>
#include <thread>

using namespace chronicle;
using namespace llvm;

/// Whether bytes [Offset, Offset + Size) of the write are in the range, through
/// any of the addresses at which their memory is mapped.
static bool touches(const SteppedRun &Run, const SteppedWrite &N,
                    answers::AddressRange Range, uint64_t Offset = 0,
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
                          answers::AddressRange Range) {
  const uint64_t First = N.W.Address, End = First + N.W.Old.size();
  for (uint64_t A = First; A < End; ++A) {
    const uint64_t Page = A & ~uint64_t(4095);
    const bool Whole = Page >= First && Page + 4096 <= End;
    if ((!Whole || N.W.Old[A - First]) && touches(Run, N, Range, A - First, 1))
      return true;
  }
  return false;
}

static std::vector<answers::Write> expectedWrites(const SteppedRun &Run,
                                                  answers::AddressRange Range,
                                                  answers::TimeRange When) {
  std::vector<answers::Write> Result;
  uint32_t LastMapping = 0;
  for (const SteppedWrite &N : Run.Writes) {
    const answers::Write &W = N.W;
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
      answers::Write &Whole = Result.back();
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

static std::string text(const answers::Write &W) {
  return formatv("[time {0} thread {1} by {2} call {3} pc {4:x} address {5:x} "
                 "old {6} new {7}]",
                 W.Time, W.Thread, int(W.By), W.SystemCall, W.Pc, W.Address,
                 toHex(ArrayRef(W.Old).take_front(32)),
                 toHex(ArrayRef(W.New).take_front(32)));
}

static bool same(const answers::Write &A, const answers::Write &B) {
  return A.Time == B.Time && A.Thread == B.Thread && A.By == B.By &&
         (A.By != answers::Writer::Instruction || A.Pc == B.Pc) &&
         A.Address == B.Address && A.Old == B.Old && A.New == B.New &&
         A.SystemCall == B.SystemCall;
}

static void checkWrites(const query::Trace &T, const SteppedRun &Run,
                        std::mt19937_64 &Random) {
  const SteppedWrite &Seed = Run.Writes[Random() % Run.Writes.size()];
  answers::AddressRange Range;
  Range.First = Seed.W.Address + Random() % Seed.W.Old.size();
  static const uint64_t Lengths[] = {1, 1, 4, 8, 16, 64, 5000, 1 << 20};
  Range.Last = Range.First + Lengths[Random() % std::size(Lengths)] - 1;
  answers::TimeRange When;
  if (Random() % 3) {
    When.First = Random() % (T.instructions() + 1);
    When.Last = When.First + Random() % (T.instructions() + 1);
    if (Random() % 4 == 0)
      When.First = When.Last = Seed.W.Time;
  }
  const bool Backward = Random() % 2;
  std::vector<answers::Write> Expected = expectedWrites(Run, Range, When);
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
  Error E = T.writes(Range, When, Backward, [&](const answers::Write &W) {
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

static void checkSample(const query::Trace &T, const Sample &S) {
  auto Where = [&] { return "at " + utostr(S.Time) + ": "; };
  Expected<uint32_t> Running = T.threadAt(S.Time);
  if (!Running)
    return failed(Where() + toString(Running.takeError()));
  expect(*Running == S.Running, [&] { return Where() + "wrong thread"; });
  Expected<std::vector<answers::ThreadInfo>> Alive = T.threads(S.Time);
  if (!Alive)
    return failed(Where() + toString(Alive.takeError()));
  for (const answers::ThreadInfo &I : *Alive) {
    Expected<answers::Registers> R = T.registers(I.Number, S.Time);
    if (!R) {
      failed(Where() + "thread " + Twine(I.Number) + ": " +
             toString(R.takeError()));
      continue;
    }
    auto Known = S.States.find(I.Number);
    if (Known == S.States.end())
      continue; // never ran so far
    std::string Difference =
        replay::describeDifference(R->State.data(), Known->second.data());
    expect(Difference.empty(), [&] {
      return Where() + "thread " + utostr(I.Number) + ": " + Difference;
    });
  }
  Expected<answers::MemoryContents> M =
      T.memory(S.Address, S.Bytes.size(), S.Time);
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

/// Checks that the stored programs are those that the definitions give. Returns
/// their number.
static uint64_t checkPrograms(const file::TraceReader &Reader) {
  pieces::StoredPrograms Stored = pieces::StoredPrograms::create(
      Reader.programs(), program::ReplayProgram::version());
  uint64_t Found = 0;
  for (uint32_t Id = 1; Id < Reader.superblockCount(); ++Id) {
    ArrayRef<uint8_t> Bytes = Stored.find(Id);
    if (Bytes.empty())
      continue;
    ++Found;
    auto Built = program::ReplayProgram::create(Reader.definition(Id).Bytes,
                                                program::ProgramForm::Fast);
    const program::ReplayProgram *P =
        program::ReplayProgram::at(Bytes, Id, Reader.superblockAddresses()[Id],
                                   Built ? (*Built)->ordinals() : 0);
    expect(Built && P && *P == **Built, [&] {
      return "the stored program of superblock " + utostr(Id) + " differs";
    });
    if (!Built)
      consumeError(Built.takeError());
  }
  return Found;
}

int main(int Argc, char **Argv) {
  const uint64_t Seed = argument(Argc, Argv, 2, 1);
  const uint64_t Queries = argument(Argc, Argv, 3, 300);
  query::TraceOptions Options;
  Options.CacheBytes = argument(Argc, Argv, 4, Options.CacheBytes);
  std::unique_ptr<query::Trace> T =
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
