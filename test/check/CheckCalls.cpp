// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check-calls trace.db [seed]: asks the query engine about call stacks,
// returns, callees and executions of a (small) trace, and compares the answers
// with those of NaiveRun, which goes through the whole run. If the program
// keeps a log of its own stack (test/programs/calls.cpp), with that too.

#include "NaiveRun.h"
#include "Tally.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <random>
#include <set>

using namespace chronicle;
using namespace llvm;

namespace {
struct Sample {
  Timestamp Time;
  uint32_t Thread;
  uint64_t Pc; ///< of the thread that runs; else 0
  std::vector<size_t> Stack;
};
struct Executed {
  Timestamp Time;
  uint32_t Thread;
  uint64_t Pc;
};
} // namespace

static std::string text(const answers::Activation &A) {
  return formatv("[entry {0} site {1:x} callee {2:x} sp {3:x} pc {4:x}{5}]",
                 A.Entry, A.CallSite, A.Callee, A.StackPointer, A.Pc,
                 A.Signal ? " signal" : "");
}
static std::string text(const NaiveFrame &F) {
  return formatv("[entry {0} site {1:x} callee {2:x} sp {3:x}{4}{5}]", F.Entry,
                 F.CallSite, F.Callee, F.Slot, F.Signal ? " signal" : "",
                 F.First ? " first" : "");
}

/// Pc is where the activation is. If its first instruction never ran, because
/// nothing can be executed there, it is there.
static bool same(const answers::Activation &A, const NaiveFrame &F,
                 uint64_t Pc = 0) {
  if (F.First)
    return A.CallSite == 0 && !A.Signal;
  return A.Entry == F.Entry && A.CallSite == F.CallSite &&
         A.Callee == (F.Entered ? F.Callee : Pc) && A.StackPointer == F.Slot &&
         A.Signal == F.Signal && A.Thread == F.Thread;
}

static void checkStack(const query::Trace &T, const NaiveRun &Run,
                       const Sample &S) {
  std::string Where = formatv("thread {0} at {1}", S.Thread, S.Time);
  std::vector<answers::Activation> Stack =
      get(T.callStack(S.Thread, S.Time), Where);
  bool Same = Stack.size() == S.Stack.size();
  uint64_t Pc = S.Pc;
  for (size_t I = 0; Same && I < Stack.size(); ++I) {
    const NaiveFrame &F = Run.Frames[S.Stack[I]];
    Same = same(Stack[I], F, Pc) && (!Pc || Stack[I].Pc == Pc);
    Pc = F.Signal ? F.Interrupted : F.CallSite;
  }
  ++Checks;
  if (Same)
    return;
  std::string Message = formatv("{0}: {1} calls, expected {2}", Where,
                                Stack.size(), S.Stack.size());
  size_t Most = std::max(Stack.size(), S.Stack.size());
  for (size_t I = 0, Shown = 0; I < Most && Shown < 8; ++I) {
    bool There = I < Stack.size() && I < S.Stack.size();
    if (There && same(Stack[I], Run.Frames[S.Stack[I]]))
      continue;
    ++Shown;
    Message +=
        formatv("\n  {0}: {1}, expected {2}", I,
                I < Stack.size() ? text(Stack[I]) : "nothing",
                I < S.Stack.size() ? text(Run.Frames[S.Stack[I]]) : "nothing");
  }
  failed(Message);
}

static answers::Activation asked(const NaiveFrame &F) {
  answers::Activation A;
  A.Entry = F.Entry;
  A.StackPointer = F.Slot;
  A.Thread = F.Thread;
  A.Signal = F.Signal;
  return A;
}

static void checkFrame(const query::Trace &T, const NaiveRun &Run,
                       size_t Number,
                       const std::vector<std::vector<size_t>> &Children) {
  const NaiveFrame &F = Run.Frames[Number];
  if (F.First || !F.Entered)
    return;
  std::optional<Timestamp> End = get(T.returnOf(asked(F)), text(F));
  std::optional<Timestamp> Expected;
  if (F.End != ~Timestamp(0))
    Expected = F.End;
  expect(End == Expected,
         formatv("{0} returns at {1}, expected {2}", text(F),
                 End ? std::to_string(*End) : "never",
                 Expected ? std::to_string(*Expected) : "never"));
  std::vector<size_t> Callees;
  for (size_t C : Children[Number])
    if (!Run.Frames[C].Signal && !Run.Frames[C].First && Run.Frames[C].Entered)
      Callees.push_back(C);
  size_t Next = 0;
  bool Same = true;
  ok(T.callees(asked(F),
               [&](const answers::Activation &A) {
                 Same &= Next < Callees.size() &&
                         same(A, Run.Frames[Callees[Next]]);
                 ++Next;
                 return true;
               }),
     text(F));
  expect(Same && Next == Callees.size(),
         formatv("{0} has {1} callees, expected {2}{3}", text(F), Next,
                 Callees.size(), Same ? "" : "; not the same"));
}

static void checkExecutions(const query::Trace &T, ArrayRef<Executed> All,
                            answers::AddressRange Range,
                            answers::TimeRange When, uint32_t Thread) {
  std::vector<const Executed *> Expected;
  for (const Executed &X : All)
    if (X.Pc >= Range.First && X.Pc <= Range.Last && X.Time >= When.First &&
        X.Time <= When.Last && (!Thread || X.Thread == Thread))
      Expected.push_back(&X);
  std::string Where =
      formatv("executions of {0:x} to {1:x} from {2} to {3} by {4}",
              Range.First, Range.Last, When.First, When.Last, Thread);
  for (bool Backward : {false, true}) {
    size_t Next = 0;
    bool Same = true;
    ok(T.executions(
           Range, When, Thread, Backward,
           [&](const answers::Execution &X) {
             if (Next >= Expected.size()) {
               Same = false;
               return false;
             }
             const Executed &E =
                 *Expected[Backward ? Expected.size() - 1 - Next : Next];
             Same &= X.Time == E.Time && X.Thread == E.Thread && X.Pc == E.Pc;
             ++Next;
             return true;
           }),
       Where);
    expect(Same && Next == Expected.size(),
           Where + formatv(": {0}, expected {1}{2}", Next, Expected.size(),
                           Same ? "" : "; not the same"));
  }
  uint64_t Count = get(T.countExecutions(Range, When, Thread), Where);
  expect(Count == Expected.size(),
         Where +
             formatv(": counted {0}, expected {1}", Count, Expected.size()));
}

/// Compares call stacks with what the program logged at each execution of
/// observe(). The functions of the log must be in the call stack in this order,
/// and none of them elsewhere in it.
static void checkLog(const query::Trace &T, ArrayRef<Executed> All) {
  uint64_t Observe = 0, Observed = 0;
  ok(T.events(1ull << CH_EV_OUTPUT, {}, false,
              [&](const answers::TimedEvent &E) {
                StringRef Text = toStringRef(
                    ArrayRef(E.Payload).drop_front(sizeof(ch_ev_output)));
                if (Text.consume_front("observe 0x") &&
                    !Text.consumeInteger(16, Observe) &&
                    Text.consume_front(" observed 0x"))
                  Text.consumeInteger(16, Observed);
                return !Observed;
              }),
     "output");
  if (!Observed)
    return;
  auto Word = [&](uint64_t Address, Timestamp At) {
    answers::MemoryContents M = get(T.memory(Address, 8, At), "log");
    return M.Bytes.size() == 8 ? support::endian::read64le(M.Bytes.data()) : 0;
  };
  uint64_t Looked = 0;
  std::set<uint64_t> Functions;
  std::vector<std::pair<Timestamp, std::vector<uint64_t>>> Logs;
  std::vector<uint32_t> ThreadOf;
  Timestamp Waiting = 0;
  uint32_t Thread = 0;
  for (const Executed &X : All) {
    if (X.Pc == Observe) {
      Waiting = X.Time;
      Thread = X.Thread;
      ++Looked;
    }
    // The first store identifies the log.
    if (!Waiting || X.Thread != Thread || X.Time == Waiting)
      continue;
    uint64_t Log = 0;
    ok(T.writes({Observed, Observed + 7}, {Waiting, X.Time}, true,
                [&](const answers::Write &W) {
                  Log = support::endian::read64le(W.New.data());
                  return false;
                }),
       "log");
    if (!Log)
      continue;
    uint64_t Depth = Word(Log, Waiting);
    std::vector<uint64_t> Entries;
    answers::MemoryContents M =
        get(T.memory(Log + 8, Depth * 8, Waiting), "log");
    for (uint64_t I = 0; I < Depth && M.Bytes.size() == Depth * 8; ++I)
      Entries.push_back(support::endian::read64le(M.Bytes.data() + I * 8));
    Functions.insert(Entries.begin(), Entries.end());
    Logs.emplace_back(Waiting, Entries);
    ThreadOf.push_back(Thread);
    Waiting = 0;
  }
  for (size_t I = 0; I < Logs.size(); ++I) {
    auto &[Time, Entries] = Logs[I];
    std::vector<answers::Activation> Stack =
        get(T.callStack(ThreadOf[I], Time), "log");
    std::vector<uint64_t> Found;
    for (const answers::Activation &A : reverse(Stack))
      if (Functions.count(A.Callee))
        Found.push_back(A.Callee);
    std::string Message = formatv("log at {0}: found", Time);
    for (uint64_t F : Found)
      Message += formatv(" {0:x}", F);
    Message += " logged";
    for (uint64_t F : Entries)
      Message += formatv(" {0:x}", F);
    expect(Found == Entries, Message);
  }
  outs() << formatv("{0} observations of the program's own log\n", Looked);
}

int main(int Argc, char **Argv) {
  std::unique_ptr<query::Trace> Opened =
      openTrace(Argc, Argv, 1, "check-calls trace.db [seed]");
  if (!Opened)
    return 2;
  const query::Trace &T = *Opened;
  std::mt19937 Random(static_cast<unsigned>(argument(Argc, Argv, 2, 1)));
  auto Pick = [&](uint64_t Bound) {
    return std::uniform_int_distribution<uint64_t>(0, Bound - 1)(Random);
  };

  const json::Object *End = T.reader().end();
  expect(End && End->getInteger("stack-surprises") == 0,
         "the stack pointer was not followed exactly");
  NaiveRun Run(T.reader());
  std::vector<Sample> Samples;
  std::vector<Executed> All;
  size_t FramesSeen = 0;
  Run.OnInstruction = [&](Timestamp Time, uint32_t Thread, uint64_t Pc) {
    All.push_back({Time, Thread, Pc});
    // Samples moments at which something happens, and any others.
    bool News = Run.Frames.size() != FramesSeen && Pick(8) == 0;
    FramesSeen = Run.Frames.size();
    if (News || Pick(T.instructions() / 3000 + 1) == 0)
      Samples.push_back({Time, Thread, Pc, Run.stack(Thread)});
    if (Pick(T.instructions() / 300 + 1) == 0)
      for (uint32_t Other : Run.threads())
        if (Other != Thread)
          Samples.push_back({Time, Other, 0, Run.stack(Other)});
  };
  if (!Run.run())
    return 1;
  std::vector<std::vector<size_t>> Children(Run.Frames.size());
  for (size_t I = 0; I < Run.Frames.size(); ++I)
    if (Run.Frames[I].Parent != ~size_t(0))
      Children[Run.Frames[I].Parent].push_back(I);

  std::shuffle(Samples.begin(), Samples.end(), Random);
  for (const Sample &S : Samples)
    checkStack(T, Run, S);
  for (size_t I = 0; I < Run.Frames.size(); ++I)
    if (Pick(Run.Frames.size() / 3000 + 1) == 0)
      checkFrame(T, Run, I, Children);
  for (unsigned I = 0; I < 60; ++I) {
    uint64_t Pc = All[Pick(All.size())].Pc;
    uint64_t Length = I % 3 ? 0 : Pick(3000);
    answers::TimeRange When;
    if (I % 2) {
      When.First = Pick(T.instructions());
      When.Last = When.First + Pick(T.instructions());
    }
    checkExecutions(T, All, {Pc, Pc + Length}, When,
                    I % 4 == 3 ? All[Pick(All.size())].Thread : 0);
  }
  checkLog(T, All);
  return finish(utostr(All.size()) + " instructions, " +
                utostr(Run.Frames.size()) + " frames");
}
