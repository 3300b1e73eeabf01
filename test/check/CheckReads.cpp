// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-reads trace.db [seed [queries]]: replays a (small) run instruction by
// instruction and notes every load. Then asks the query engine who read random
// places, and goes to watchpoints there, and compares.

#include "Tally.h"
#include "lldb-plugin/session/TimeTravel.h"
#include "query/passes/Pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>

using namespace chronicle;
using namespace llvm;

struct NotedAccess {
  answers::Read R;
  bool Stores;
};

namespace {
/// Notes every access of a block.
struct Notes : passes::BlockObserver {
  std::vector<NotedAccess> All;
  void note(const passes::Access &A, bool Stores) {
    All.push_back({{A.Time, A.Thread, A.Pc, A.Address, A.Bytes.vec()}, Stores});
  }
  void load(const passes::Access &A) override { note(A, false); }
  void store(const passes::Access &A) override { note(A, true); }
};

struct AllAccesses : passes::Pass {
  std::vector<NotedAccess> All;
  BlockNumber Next = 0;
  passes::PassNeeds needs() const override {
    passes::PassNeeds Needs;
    Needs.Accesses = true;
    return Needs;
  }
  std::unique_ptr<passes::BlockObserver> start(const Block &) override {
    return std::make_unique<Notes>();
  }
  Error deliver(BlockNumber N,
                std::unique_ptr<passes::BlockObserver> Seen) override {
    expect(N == Next++, "blocks are not delivered in order");
    append_range(All, static_cast<Notes &>(*Seen).All);
    return Error::success();
  }
};
} // namespace

static bool touches(const answers::Read &R, answers::AddressRange Range) {
  return R.Address <= Range.Last &&
         R.Address + (R.Bytes.size() - 1) >= Range.First;
}

static std::string text(const answers::Read &R) {
  return formatv("[time {0} thread {1} pc {2:x} address {3:x} bytes {4}]",
                 R.Time, R.Thread, R.Pc, R.Address, toHex(R.Bytes));
}

static bool same(const answers::Read &A, const answers::Read &B) {
  return A.Time == B.Time && A.Thread == B.Thread && A.Pc == B.Pc &&
         A.Address == B.Address && A.Bytes == B.Bytes;
}

static answers::AddressRange randomRange(ArrayRef<NotedAccess> All,
                                         std::mt19937_64 &Random) {
  const answers::Read &Seed = All[Random() % All.size()].R;
  static const uint64_t Lengths[] = {1, 1, 4, 8, 16, 64, 5000};
  answers::AddressRange Range;
  Range.First = Seed.Address + Random() % (Seed.Bytes.size() + 8) - 4;
  Range.Last = Range.First + Lengths[Random() % std::size(Lengths)] - 1;
  return Range;
}

static void checkReads(const query::Trace &T, ArrayRef<NotedAccess> All,
                       std::mt19937_64 &Random) {
  const answers::AddressRange Range = randomRange(All, Random);
  answers::TimeRange When;
  if (Random() % 3) {
    When.First = Random() % (T.instructions() + 1);
    When.Last = When.First + Random() % (T.instructions() + 1);
    if (Random() % 4 == 0)
      When.First = When.Last = All[Random() % All.size()].R.Time;
  }
  const bool Backward = Random() % 2;
  const size_t Most = Random() % 2 ? 3 : 2000;
  std::vector<answers::Read> Expected, Found;
  for (const NotedAccess &A : All)
    if (!A.Stores && touches(A.R, Range) && A.R.Time >= When.First &&
        A.R.Time <= When.Last)
      Expected.push_back(A.R);
  if (Backward)
    std::reverse(Expected.begin(), Expected.end());
  if (Expected.size() > Most)
    Expected.resize(Most);
  const std::string Where =
      formatv("reads of {0:x}-{1:x}, time {2}-{3}{4}", Range.First, Range.Last,
              When.First, When.Last, Backward ? ", backward" : "");
  ok(T.reads(Range, When, Backward,
             [&](const answers::Read &R) {
               Found.push_back(R);
               return Found.size() < Most;
             }),
     Where);
  expect(Found.size() == Expected.size(), [&] {
    return formatv("{0}: found {1}, expected {2}", Where, Found.size(),
                   Expected.size())
        .str();
  });
  for (auto [F, E] : zip(Found, Expected))
    expect(same(F, E), [&, F = F, E = E] {
      return Where + ": found " + text(F) + ", expected " + text(E);
    });
}

/// Goes to a watchpoint for reads, or for reads and writes, from a random
/// moment.
static void checkWatchpoint(const query::Trace &T, ArrayRef<NotedAccess> All,
                            std::mt19937_64 &Random) {
  const answers::Read &Seed = All[Random() % All.size()].R;
  const answers::AddressRange Range{Seed.Address, Seed.Address};
  const bool Accesses = Random() % 2, Backward = Random() % 2;
  session::TimeTravel Travel(T);
  Travel.addWatchpoint(
      {Range.First, 1,
       Accesses ? session::WatchKind::Access : session::WatchKind::Read});
  const Timestamp Now = Random() % (T.instructions() + 1);
  ok(Travel.jump(Now), "jump");
  answers::Cancellation Cancel;
  session::Stop Stop = get(Backward ? Travel.continueBackward(Cancel)
                                    : Travel.continueForward(Cancel),
                           "continue");
  std::optional<Timestamp> Expected;
  for (const NotedAccess &A : All) {
    if ((A.Stores && !Accesses) || !touches(A.R, Range))
      continue;
    if (Backward && A.R.Time < Now)
      Expected = A.R.Time;
    else if (!Backward && A.R.Time >= Now && !Expected)
      Expected = A.R.Time + 1;
  }
  // Writes from outside and signals stop it too; they are not noted here.
  if (Stop.Kind == session::StopKind::Signal)
    return;
  const Timestamp There = Travel.position().Time;
  const bool Stopped = Stop.Kind == session::StopKind::Watchpoint;
  if (Stopped && Accesses && (!Expected || There != *Expected)) {
    bool Outside = false;
    ok(T.writes(Range, {There, There + 1}, false,
                [&](const answers::Write &W) {
                  Outside |= W.By != answers::Writer::Instruction;
                  return true;
                }),
       "writes");
    if (Outside)
      return;
  }
  expect(Stopped == Expected.has_value() && (!Expected || There == *Expected),
         [&] {
           return formatv("{0} watchpoint at {1:x}, {2} from {3}: stopped at "
                          "{4}, expected {5}",
                          Accesses ? "access" : "read", Range.First,
                          Backward ? "backward" : "forward", Now, There,
                          Expected.value_or(0))
               .str();
         });
}

int main(int Argc, char **Argv) {
  std::unique_ptr<query::Trace> T =
      openTrace(Argc, Argv, 1, "check-reads trace.db [seed [queries]]");
  if (!T)
    return 2;
  std::mt19937_64 Random(argument(Argc, Argv, 2, 1));
  const uint64_t Queries = argument(Argc, Argv, 3, 300);
  AllAccesses Pass;
  passes::PassOptions Options;
  Options.Threads = 2;
  ok(passes::runPass(T->reader(), Pass, Options), "the pass");
  expect(Pass.Next == T->reader().blocks().size(), "blocks are missing");
  for (uint64_t I = 0; I < Queries && !Pass.All.empty(); ++I) {
    checkReads(*T, Pass.All, Random);
    if (I % 4 == 0)
      checkWatchpoint(*T, Pass.All, Random);
  }
  return finish(Twine(Pass.All.size()) + " accesses");
}
