// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/AbsenceQuestions.h"
#include "query/control/CallSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::control {

namespace {
/// One question.
class Absence : CallSearch {
public:
  using CallSearch::CallSearch;
  Expected<AbsenceAnswer>
  run(uint64_t Pc, const std::optional<answers::Activation> &In, Timestamp At);

private:
  Expected<std::optional<answers::Execution>> lastOf(uint64_t Pc);
  Expected<std::optional<MissedTurn>> turnAt(const FunctionGraph &G,
                                             uint32_t Branch, uint32_t Node);
  Error findTurns(const FunctionGraph &G, uint32_t Node, AbsenceAnswer &To);

  bool OneCall = false;
  answers::TimeRange When;
};
} // namespace

/// The last time that the code ran, in the call or in the run.
Expected<std::optional<answers::Execution>> Absence::lastOf(uint64_t Pc) {
  std::optional<answers::Execution> Found;
  if (OneCall) {
    if (Error E = lastRun(Pc, When, [&](Timestamp Time) -> Expected<bool> {
          Found = {Time, Call.Thread, Pc};
          return false;
        }))
      return E;
    return Found;
  }
  if (Error E = T.executions(
          {Pc, Pc}, When, /*Thread=*/0, /*Backward=*/true,
          [&](const answers::Execution &X) {
            Found = X;
            return false;
          },
          &Cancel))
    return E;
  return Found;
}

/// The branch's last run. Nothing: it did not run.
Expected<std::optional<MissedTurn>>
Absence::turnAt(const FunctionGraph &G, uint32_t Branch, uint32_t Node) {
  const FunctionGraph::Node &B = G.nodes()[Branch];
  Expected<std::optional<answers::Execution>> Last = lastOf(B.Address);
  if (!Last)
    return Last.takeError();
  if (!*Last)
    return std::nullopt;
  Call.Thread = (*Last)->Thread;
  MissedTurn Turn;
  Turn.Last = stepAt(B.Indirect ? ControlStep::Kind::IndirectJump
                                : ControlStep::Kind::Branch,
                     (*Last)->Time, B.Address);
  Expected<uint64_t> To = pcAt((*Last)->Time + 1);
  if (!To)
    return To.takeError();
  Turn.Last.To = *To;
  Turn.Last.Jumped = *To != B.Address + B.Size;
  const std::optional<uint32_t> Next = G.at(*To);
  Turn.WentThere = Next && G.depends(Node, Branch, *Next) == true;
  for (uint32_t Each : B.Next)
    if (!G.depends(Node, Branch, Each))
      Turn.Last.Certain = false;
  if (Error E = addCondition(Turn.Last))
    return E;
  if (OneCall) {
    Turn.Count = count(B.Address, When);
  } else {
    Expected<uint64_t> All = T.countExecutions({B.Address, B.Address}, When,
                                               /*Thread=*/0, &Cancel);
    if (!All)
      return All.takeError();
    Turn.Count = *All;
  }
  return Turn;
}

/// From the code to the branches that it depends on, and on to those that these
/// depend on, until some ran.
Error Absence::findTurns(const FunctionGraph &G, uint32_t Node,
                         AbsenceAnswer &To) {
  std::vector<uint32_t> Wanted{Node};
  std::vector<bool> Seen(G.nodes().size());
  while (!Wanted.empty() && To.Turns.empty() && !Cancel.Cancelled) {
    std::vector<uint32_t> Further;
    for (uint32_t Each : Wanted)
      for (uint32_t B = 0; B < G.nodes().size(); ++B) {
        const FunctionGraph::Node &Branch = G.nodes()[B];
        if (Seen[B] || B == Each ||
            (Branch.Next.size() < 2 && !Branch.Indirect) ||
            none_of(Branch.Next, [&](uint32_t Next) {
              return G.depends(Each, B, Next) != false;
            }))
          continue;
        Seen[B] = true;
        Expected<std::optional<MissedTurn>> Turn = turnAt(G, B, Each);
        if (!Turn)
          return Turn.takeError();
        if (*Turn)
          To.Turns.push_back(std::move(**Turn));
        else
          Further.push_back(B);
      }
    if (To.Turns.empty())
      ++To.Distance;
    Wanted = std::move(Further);
  }
  sort(To.Turns, [](const MissedTurn &A, const MissedTurn &B) {
    return A.Last.Time > B.Last.Time;
  });
  return Error::success();
}

Expected<AbsenceAnswer>
Absence::run(uint64_t Pc, const std::optional<answers::Activation> &In,
             Timestamp At) {
  AbsenceAnswer Answer;
  Answer.Code = questions::placeAt(T, Pc, At);
  const answers::TimeRange WholeRun{0, T.instructions()};
  When = WholeRun;
  if (In) {
    OneCall = true;
    Call = *In;
    Expected<std::optional<Timestamp>> Return = T.returnOf(Call);
    if (!Return)
      return Return.takeError();
    When = {Call.Entry, *Return ? **Return - 1 : T.instructions()};
    if (Error E = T.countExecutions({Pc, Pc}, WholeRun, /*Thread=*/0, &Cancel)
                      .moveInto(Answer.InAll))
      return E;
  }
  if (Error E = lastOf(Pc).moveInto(Answer.Ran))
    return E;
  if (Answer.Ran)
    return Answer;
  const std::optional<symbols::CodeSymbol> S = T.symbols().find(Pc, At);
  const uint64_t Entry = OneCall ? Call.Callee : S ? S->FunctionAddress : 0;
  Expected<const FunctionGraph *> G = Graphs.graphOf(Entry);
  if (!G) {
    Answer.Note = "its branches are not known: " + toString(G.takeError());
    return Answer;
  }
  const std::optional<uint32_t> Node = (*G)->at(Pc);
  if (!Node) {
    Answer.Note = "no jump or branch that the code shows leads there; an "
                  "exception, or an indirect jump, may";
    return Answer;
  }
  const std::string Name = S ? S->Frames.back().Function : "the function";
  if (!OneCall) {
    Expected<std::optional<answers::Execution>> Called = lastOf(Entry);
    if (!Called)
      return Called.takeError();
    if (!*Called) {
      Answer.Note = Name + " was never called";
      return Answer;
    }
  }
  if (Error E = findTurns(**G, *Node, Answer))
    return E;
  if (Answer.Turns.empty())
    Answer.Note = formatv("every way through {0} that the code shows leads "
                          "there: {1} left before",
                          Name, OneCall ? "this call was" : "each call was");
  return Answer;
}

Expected<AbsenceAnswer> whyNot(const query::Trace &T,
                               origins::ValueEngine &Engine,
                               ArrayRef<questions::CodePlace> Code,
                               const std::optional<answers::Activation> &Call,
                               Timestamp At,
                               const answers::Cancellation &Cancel) {
  auto Rank = [](const AbsenceAnswer &A) {
    return A.Ran ? 0 : !A.Turns.empty() ? A.Distance + 1 : ~0u;
  };
  std::optional<AbsenceAnswer> Best;
  for (const questions::CodePlace &P : Code) {
    Expected<AbsenceAnswer> A =
        Absence(T, Engine, At, Cancel).run(P.Range.First, Call, At);
    if (!A)
      return A.takeError();
    if (!Best || Rank(*A) < Rank(*Best))
      Best = std::move(*A);
    if (Best->Ran)
      break;
  }
  if (!Best)
    return createStringError("there is no such code in the run");
  return std::move(*Best);
}

} // namespace chronicle::control
