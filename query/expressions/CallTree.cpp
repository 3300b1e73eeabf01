// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/CallTree.h"
#include "query/calls/CallHistory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace chronicle::expressions {

/// How many calls that one call makes are looked at.
static constexpr size_t MostCallees = 1000;

namespace {
class TreeSearch {
public:
  TreeSearch(const query::Trace &T, const TreeRequest &Request,
             LogReader &Reader, questions::Visitor<TreeCall> Visit,
             const answers::Cancellation &Cancel)
      : T(T), Request(Request), Reader(Reader), Cancel(Cancel),
        States(T.reader(), CacheBytes), Code(T.reader()),
        Calls(States, Code, CacheBytes / 4), Evaluator(T),
        Sink(Request.Limit, Visit), Result("$result") {}

  Expected<questions::SearchEnd> run() {
    return Sink.finish(add(Request.Root, 0));
  }

private:
  /// Adds a call and what it called.
  Error add(const answers::Activation &A, unsigned Depth);
  Error addCallees(const answers::Activation &A, Timestamp End, unsigned Depth);
  Error addUnderWay(const answers::Activation &A,
                    std::vector<answers::Activation> &Callees);
  Expected<TreeCall> describe(const answers::Activation &A, unsigned Depth,
                              Timestamp &End);
  Error addValues(TreeCall &C);
  Question &questionFor(StringRef Parameter) {
    auto It = Parameters.find(Parameter);
    if (It == Parameters.end())
      It = Parameters.try_emplace(Parameter, Question(Parameter)).first;
    return It->second;
  }

  const query::Trace &T;
  const TreeRequest &Request;
  LogReader &Reader;
  const answers::Cancellation &Cancel;
  /// Trace does not have calls from a moment on.
  static constexpr uint64_t CacheBytes = 64ull << 20;
  state::StateCache States;
  code::CodeTable Code;
  calls::CallHistory Calls;
  CallEvaluator Evaluator;
  questions::AnswerSink<TreeCall> Sink;
  Question Result;
  StringMap<Question> Parameters;
  bool Ended = false;
};
} // namespace

/// Calls through the linkage table are calls of the function.
static std::string nameOf(const questions::Place &P) {
  if (!P.Symbol || P.Symbol->Frames.back().Function.empty())
    return "";
  StringRef Name = P.Symbol->Frames.back().Function;
  Name.consume_back("@plt");
  return Name.str();
}

Error TreeSearch::addValues(TreeCall &C) {
  std::optional<symbols::FunctionFacts> Facts =
      T.symbols().functionFacts(C.Call.Function.Pc, C.Call.Entry);
  if (!Facts)
    return Error::success();
  C.HasArguments = true;
  Expected<std::optional<CodeMoment>> At = Evaluator.go(C.Call);
  if (!At)
    return At.takeError();
  auto show = [&](Question &Q, LoggedValue &Shown) -> Error {
    Shown.Text = "not set up yet";
    if (!*At)
      return Error::success();
    Expected<Outcome> O = Evaluator.evaluate(Q, **At);
    if (!O)
      return O.takeError();
    return Reader.show(Q, *O, **At, Evaluator.state()).moveInto(Shown);
  };
  for (const symbols::FunctionFacts::Parameter &P : Facts->Parameters) {
    C.Arguments.emplace_back(P.Name, LoggedValue());
    if (P.Name.empty())
      C.Arguments.back().second.Text = "no name";
    else if (Error E = show(questionFor(P.Name), C.Arguments.back().second))
      return E;
  }
  if (!*At || !C.Call.End || !C.Call.End->returned())
    return Error::success();
  Expected<Outcome> O = Evaluator.evaluate(Result, **At);
  if (!O)
    return O.takeError();
  if (O->What != Outcome::Kind::Value)
    return Error::success();
  C.Result.emplace();
  return Reader.show(Result, *O, **At, Evaluator.state()).moveInto(*C.Result);
}

Expected<TreeCall> TreeSearch::describe(const answers::Activation &A,
                                        unsigned Depth, Timestamp &End) {
  TreeCall C;
  C.Depth = Depth;
  Expected<questions::CallEnd> How = questions::endOf(T, A);
  if (!How)
    return How.takeError();
  C.Call.Entry = A.Entry;
  C.Call.Thread = A.Thread;
  C.Call.End = *How;
  C.Call.Function = questions::placeAt(T, A.Callee, A.Entry);
  C.Function = nameOf(C.Call.Function);
  End = How->Time.value_or(T.instructions());
  C.Instructions = End - A.Entry;
  if (Error E = addValues(C))
    return E;
  return C;
}

/// The call that it has made before the time begins, and that is under way
/// then.
Error TreeSearch::addUnderWay(const answers::Activation &A,
                              std::vector<answers::Activation> &Callees) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(A.Thread, Request.When.First);
  if (!Stack)
    return Stack.takeError();
  for (size_t I = 1; I < Stack->size(); ++I)
    if ((*Stack)[I].Entry == A.Entry &&
        (*Stack)[I].StackPointer == A.StackPointer &&
        (*Stack)[I - 1].Entry < Request.When.First)
      Callees.push_back((*Stack)[I - 1]);
  return Error::success();
}

Error TreeSearch::addCallees(const answers::Activation &A, Timestamp End,
                             unsigned Depth) {
  std::vector<answers::Activation> Callees;
  bool More = false;
  if (A.Entry < Request.When.First && Request.When.First < End)
    if (Error E = addUnderWay(A, Callees))
      return E;
  if (Error E = Calls.callees(
          A,
          [&](const answers::Activation &Callee) {
            if (Callee.Entry > std::min(End, Request.When.Last))
              return false;
            Callees.push_back(Callee);
            More = Callees.size() > MostCallees;
            return !More;
          },
          &Cancel, Request.When.First))
    return E;
  if (More)
    Callees.pop_back();
  for (size_t I = 0; I < Callees.size() && !Ended;) {
    if (Error E = add(Callees[I], Depth))
      return E;
    size_t Next = I + 1;
    while (Next < Callees.size() && Callees[Next].Callee == Callees[I].Callee)
      ++Next;
    const size_t Same = Next - I - 1;
    if (Same && !Ended) {
      TreeCall C;
      C.Depth = Depth;
      C.Call.Entry = Callees[I + 1].Entry;
      C.Call.Thread = A.Thread;
      C.Call.Function =
          questions::placeAt(T, Callees[I].Callee, Callees[I].Entry);
      C.Function = nameOf(C.Call.Function);
      C.Folded = Same;
      C.Last = Callees[Next - 1].Entry;
      C.MayGoOn = More && Next == Callees.size();
      Ended = !Sink.add(std::move(C));
    }
    I = Next;
  }
  return Error::success();
}

Error TreeSearch::add(const answers::Activation &A, unsigned Depth) {
  if (Cancel.Cancelled || Ended) {
    Ended = true;
    return Error::success();
  }
  Timestamp End = 0;
  // Whether there is a line left for it.
  if (Sink.full()) {
    Sink.add({});
    Ended = true;
    return Error::success();
  }
  Expected<TreeCall> C = describe(A, Depth, End);
  if (!C)
    return C.takeError();
  if (End < Request.When.First || A.Entry > Request.When.Last)
    return Error::success();
  if (!Sink.add(std::move(*C))) {
    Ended = true;
    return Error::success();
  }
  return Depth < Request.Depth ? addCallees(A, End, Depth + 1)
                               : Error::success();
}

Expected<questions::SearchEnd> searchTree(const query::Trace &T,
                                          const TreeRequest &Request,
                                          LogReader &Reader,
                                          questions::Visitor<TreeCall> Visit,
                                          const answers::Cancellation &Cancel) {
  return TreeSearch(T, Request, Reader, Visit, Cancel).run();
}

Expected<std::optional<answers::Activation>>
callDuring(const query::Trace &T, uint32_t Thread, answers::TimeRange When) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Thread, When.First);
  if (!Stack)
    return Stack.takeError();
  for (const answers::Activation &A : *Stack) {
    Expected<std::optional<Timestamp>> End = T.returnOf(A);
    if (!End)
      return End.takeError();
    if (!*End || **End > When.Last)
      return A;
  }
  return std::nullopt;
}

} // namespace chronicle::expressions
