// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/CallSearch.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::control {

using Kind = ControlStep::Kind;

StringRef nameOf(ControlStep::Kind What) {
  switch (What) {
  case Kind::Branch:
    return "branch";
  case Kind::IndirectJump:
    return "indirect-jump";
  case Kind::Call:
    return "call";
  case Kind::TailCall:
    return "tail-call";
  case Kind::Start:
    return "start";
  case Kind::Signal:
    return "signal";
  case Kind::Unknown:
    return "unknown";
  }
  llvm_unreachable("no such kind");
}

namespace {
/// One question.
class Search : CallSearch {
public:
  using CallSearch::CallSearch;
  Expected<ControlAnswer> run(ControlPoint Where, uint64_t Limit);

private:
  /// A branch that ran, and where it went.
  struct Decision {
    Timestamp Time = 0;
    uint32_t Branch = 0;
    uint64_t To = 0;
    bool Certain = true;
  };
  Expected<bool> branches(const FunctionGraph &G, uint32_t Node,
                          Timestamp &Before, size_t First, ControlAnswer &To,
                          uint64_t Limit);
  Expected<bool> inCall(uint64_t Pc, Timestamp Before, ControlAnswer &To,
                        uint64_t Limit);
  Expected<std::optional<Decision>> decision(const FunctionGraph &G,
                                             uint32_t Node, Timestamp Before,
                                             uint32_t Except);
  Expected<std::optional<Timestamp>> tailCalledAt(uint64_t Function,
                                                  Timestamp Before);
};
} // namespace

/// Whether the function that the code belongs to is the system's, whatever was
/// inlined there.
static bool isSystemFunction(const query::Trace &T, uint64_t Pc, Timestamp At) {
  questions::Place Where = questions::placeAt(T, Pc, At);
  if (!Where.Symbol)
    return false;
  auto &Frames = Where.Symbol->Frames;
  Frames.erase(Frames.begin(), Frames.end() - 1);
  return questions::isSystemCode(Where);
}

/// The last branch before a moment that the node depends on, and that is not
/// Except. Nothing: it runs in every call.
Expected<std::optional<Search::Decision>>
Search::decision(const FunctionGraph &G, uint32_t Node, Timestamp Before,
                 uint32_t Except) {
  std::optional<Decision> Best;
  for (uint32_t B = 0; B < G.nodes().size(); ++B) {
    const FunctionGraph::Node &Branch = G.nodes()[B];
    if ((Branch.Next.size() < 2 && !Branch.Indirect) || B == Except ||
        none_of(Branch.Next, [&](uint32_t Next) {
          return G.depends(Node, B, Next) != false;
        }))
      continue;
    answers::TimeRange When{Best ? Best->Time + 1 : Call.Entry, Before};
    if (When.Last == 0)
      break;
    --When.Last;
    if (Error E = lastRun(Branch.Address, When,
                          [&](Timestamp Time) -> Expected<bool> {
                            Expected<uint64_t> To = pcAt(Time + 1);
                            if (!To)
                              return To.takeError();
                            const std::optional<uint32_t> Next = G.at(*To);
                            const std::optional<bool> Depends =
                                Next ? G.depends(Node, B, *Next) : false;
                            if (Depends == false)
                              return true;
                            Best = {Time, B, *To, Depends.has_value()};
                            return false;
                          }))
      return E;
  }
  return Best;
}

/// When the call jumped to the first instruction of another function; nothing:
/// it is not known to have.
Expected<std::optional<Timestamp>> Search::tailCalledAt(uint64_t Function,
                                                        Timestamp Before) {
  std::optional<Timestamp> Result;
  if (Error E = lastRun(Function, {Call.Entry, Before},
                        [&](Timestamp Time) -> Expected<bool> {
                          Result = Time;
                          return false;
                        }))
    return E;
  if (!Result || !*Result || *Result == Call.Entry)
    return std::nullopt;
  Expected<uint32_t> Thread = T.threadAt(*Result - 1);
  if (!Thread)
    return Thread.takeError();
  if (*Thread != Call.Thread)
    return std::nullopt;
  return *Result - 1;
}

/// Adds the branches of one function of the call that the node depends on, from
/// a moment backward. First is the first step of the call. False: the limit was
/// reached.
Expected<bool> Search::branches(const FunctionGraph &G, uint32_t Node,
                                Timestamp &Before, size_t First,
                                ControlAnswer &To, uint64_t Limit) {
  uint32_t Except = G.exit(); // which is no branch
  while (!Cancel.Cancelled) {
    if (To.Steps.size() >= Limit)
      return false;
    Expected<std::optional<Decision>> D = decision(G, Node, Before, Except);
    if (!D)
      return D.takeError();
    if (!*D)
      break;
    const FunctionGraph::Node &Branch = G.nodes()[(*D)->Branch];
    const auto Known =
        find_if(drop_begin(To.Steps, First), [&](const ControlStep &S) {
          return S.Pc == Branch.Address && S.What != Kind::Unknown;
        });
    if (Known != To.Steps.end()) {
      Known->Repeated = true;
      if (Node == (*D)->Branch) {
        // A loop that one branch decides: on to what is before the loop.
        Except = Node;
        continue;
      }
    } else {
      ControlStep S =
          stepAt(Branch.Indirect ? Kind::IndirectJump : Kind::Branch,
                 (*D)->Time, Branch.Address);
      S.To = (*D)->To;
      S.Jumped = S.To != Branch.Address + Branch.Size;
      S.Certain = (*D)->Certain;
      if (Error E = addCondition(S))
        return E;
      To.Steps.push_back(std::move(S));
    }
    Node = (*D)->Branch;
    Before = (*D)->Time;
    Except = G.exit();
  }
  for (ControlStep &S : drop_begin(To.Steps, First))
    if (S.Repeated && !S.Repeats)
      S.Repeats = count(S.Pc, {Call.Entry, S.Time - 1});
  return true;
}

/// Adds the branches of the present call. False: the limit was reached, or it
/// was cancelled.
Expected<bool> Search::inCall(uint64_t Pc, Timestamp Before, ControlAnswer &To,
                              uint64_t Limit) {
  const size_t First = To.Steps.size();
  uint64_t Entry = Call.Callee;
  auto Unknown = [&](const Twine &Why) {
    ControlStep S = stepAt(Kind::Unknown, Before, Pc);
    S.Note = Why.str();
    To.Steps.push_back(std::move(S));
    return true;
  };
  // A function that was jumped to has a graph of its own.
  auto StartOf = [&](uint64_t Of) {
    const std::optional<symbols::CodeSymbol> S = T.symbols().find(Of, Before);
    return S ? S->FunctionAddress : 0;
  };
  while (!Cancel.Cancelled) {
    Expected<const FunctionGraph *> G = Graphs.graphOf(Entry);
    if (!G)
      return Unknown("the branches of this call are not known: " +
                     toString(G.takeError()));
    std::optional<uint32_t> Node = (*G)->at(Pc);
    if (!Node) {
      const uint64_t Own = StartOf(Pc);
      if (Entry != Call.Callee || !Own || Own == Entry)
        return Unknown("the branches of this call are not known: no jump or "
                       "branch that the code shows leads here; an exception, "
                       "or an indirect jump, may");
      // A stub of the linkage table, or a tail call.
      Entry = Own;
      continue;
    }
    Expected<bool> All = branches(**G, *Node, Before, First, To, Limit);
    if (!All || !*All)
      return All;
    if (Entry == Call.Callee || Cancel.Cancelled)
      break;
    // How the call came to this function.
    const std::optional<symbols::CodeSymbol> Stub =
        T.symbols().find(Call.Callee, Before);
    const bool IsStub =
        Stub && StringRef(Stub->Frames.back().Function).contains("@plt");
    if (IsStub)
      break;
    Expected<std::optional<Timestamp>> Jumped = tailCalledAt(Entry, Before);
    if (!Jumped)
      return Jumped.takeError();
    if (!*Jumped)
      return Unknown("it is not known what jumped to this function");
    Expected<uint64_t> From = pcAt(**Jumped);
    if (!From)
      return From.takeError();
    To.Steps.push_back(stepAt(Kind::TailCall, **Jumped, *From));
    Pc = *From;
    Before = **Jumped;
    Entry = StartOf(Pc) == StartOf(Call.Callee) ? Call.Callee : StartOf(Pc);
  }
  return !Cancel.Cancelled;
}

Expected<ControlAnswer> Search::run(ControlPoint Where, uint64_t Limit) {
  ControlAnswer Answer;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Where.Thread, Where.At);
  if (!Stack)
    return Stack.takeError();
  // The system's code outside of all of the program's is not shown.
  size_t Outermost = Stack->size();
  while (!Where.All && Outermost > Where.Frame + 1 &&
         isSystemFunction(T, (*Stack)[Outermost - 1].Pc, Where.At))
    --Outermost;
  for (size_t I = Where.Frame; I < Stack->size(); ++I) {
    Call = (*Stack)[I];
    const Timestamp Before = I ? (*Stack)[I - 1].Entry - 1 : Where.At;
    if (Call.Jumped) {
      ControlStep S = stepAt(Kind::Unknown, *Call.Jumped, Call.CallSite);
      S.Note = "a jump led to a place without code";
      Answer.Steps.push_back(std::move(S));
      continue;
    }
    const bool Skips = !Where.All && isSystemFunction(T, Call.Pc, Before);
    Expected<bool> More =
        Skips ? Expected<bool>(true) : inCall(Call.Pc, Before, Answer, Limit);
    if (!More)
      return More.takeError();
    if (!*More || Answer.Steps.size() >= Limit) {
      Answer.Complete = false;
      return Answer;
    }
    const questions::Place Callee =
        questions::placeAt(T, Call.Callee, Call.Entry);
    const bool IsMain =
        Callee.Symbol && Callee.Symbol->Frames.back().Function == "main";
    if (Call.Signal) {
      Answer.Steps.push_back(stepAt(Kind::Signal, Call.Entry, Call.Callee));
      continue;
    }
    if (IsMain || !Call.CallSite || I + 1 == Outermost) {
      Answer.Steps.push_back(stepAt(Kind::Start, Call.Entry, Call.Callee));
      break;
    }
    ControlStep S = stepAt(Kind::Call, Call.Entry - 1, Call.CallSite);
    S.To = Call.Callee;
    Answer.Steps.push_back(std::move(S));
  }
  return Answer;
}

Expected<ControlAnswer> whyHere(const query::Trace &T,
                                origins::ValueEngine &Engine,
                                ControlPoint Where, uint64_t Limit,
                                const answers::Cancellation &Cancel) {
  return Search(T, Engine, Where.At, Cancel).run(Where, Limit);
}

} // namespace chronicle::control
