// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/exceptions/ExceptionQuestions.h"
#include "query/exceptions/ExceptionObject.h"
#include "query/questions/ExecutionQuestions.h"
#include "query/questions/QueryError.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::exceptions {

using questions::CodePlace;
using Stack = std::vector<answers::Activation>;

namespace {
/// Answers for one search, which knows where the runtime's functions are.
class ExceptionSearch {
public:
  ExceptionSearch(const query::Trace &T, const answers::Cancellation &Cancel)
      : T(T), Cancel(Cancel) {}

  /// Finds the runtime's functions.
  Error prepare(answers::TimeRange When);
  ArrayRef<CodePlace> raises() const { return Raises; }
  /// Nothing: not an exception of C++.
  Expected<std::optional<ExceptionAnswer>> answer(const answers::Execution &X);

private:
  /// An execution whose first argument is a certain address.
  struct Match {
    answers::Execution Execution;
    bool Catches;
  };
  Expected<std::optional<Match>> next(ArrayRef<CodePlace> Places,
                                      uint64_t Argument, uint32_t Thread,
                                      answers::TimeRange When);
  Expected<RuntimeCall> callOf(const answers::Activation &A);
  Expected<std::optional<RuntimeCall>>
  handlerOf(const answers::Execution &Raise, const answers::Activation &Throw,
            uint64_t Header);
  Expected<std::optional<std::string>>
  whatReturned(const ExceptionObject &Object, const answers::Execution &Raise,
               uint64_t Header);

  const query::Trace &T;
  const answers::Cancellation &Cancel;
  std::vector<CodePlace> Raises, Catches;
};
} // namespace

/// Where the functions of that name are, if any module has one.
static Expected<std::vector<CodePlace>>
placesOf(const query::Trace &T, StringRef Name, answers::TimeRange When,
         const answers::Cancellation &Cancel) {
  if (T.symbols().functions(Name).empty())
    return std::vector<CodePlace>();
  return questions::findCode(T, questions::FunctionName{Name.str()}, When,
                             Cancel);
}

Error ExceptionSearch::prepare(answers::TimeRange When) {
  // A handler may run after the time asked about.
  const answers::TimeRange After{When.First, T.instructions()};
  auto Add = [&](StringRef Name, std::vector<CodePlace> &To) -> Error {
    Expected<std::vector<CodePlace>> Places = placesOf(T, Name, After, Cancel);
    if (!Places)
      return Places.takeError();
    append_range(To, *Places);
    return Error::success();
  };
  // Every exception comes by here, whichever function throws or rethrows it.
  if (Error E = Add("_Unwind_RaiseException", Raises))
    return E;
  if (Error E = Add("__cxa_begin_catch", Catches))
    return E;
  if (Raises.empty() || Catches.empty())
    return questions::queryError(
        "not-found",
        "no module whose symbols could be read throws C++ exceptions: none has "
        "the functions _Unwind_RaiseException and __cxa_begin_catch");
  return Error::success();
}

static Expected<uint64_t> firstArgument(const query::Trace &T,
                                        const answers::Execution &X) {
  Expected<answers::Registers> R = T.registers(X.Thread, X.Time);
  if (!R)
    return R.takeError();
  return R->word(CH_OFFSET_RDI);
}

/// The first execution of the places, by the thread, that gets Argument.
Expected<std::optional<ExceptionSearch::Match>>
ExceptionSearch::next(ArrayRef<CodePlace> Places, uint64_t Argument,
                      uint32_t Thread, answers::TimeRange When) {
  if (When.First > When.Last)
    return std::nullopt;
  std::vector<CodePlace> Limited;
  for (CodePlace P : Places) {
    P.When.First = std::max(P.When.First, When.First);
    P.When.Last = std::min(P.When.Last, When.Last);
    if (P.When.First <= P.When.Last)
      Limited.push_back(P);
  }
  questions::SearchOptions Options;
  Options.When = When;
  Options.Thread = Thread;
  std::optional<Match> Found;
  std::optional<Error> Failed;
  Error E = questions::mergedExecutions(
      T, Limited, Options,
      [&](const answers::Execution &X) {
        Expected<uint64_t> First = firstArgument(T, X);
        if (!First) {
          Failed.emplace(First.takeError());
          return false;
        }
        if (*First != Argument)
          return !Cancel.Cancelled;
        bool IsCatch = any_of(
            Catches, [&](const CodePlace &P) { return P.Range.First == X.Pc; });
        Found = Match{X, IsCatch};
        return false;
      },
      Cancel);
  if (Failed)
    return joinErrors(std::move(E), std::move(*Failed));
  if (E)
    return E;
  return Found;
}

/// The call instruction that began the activation.
Expected<RuntimeCall> ExceptionSearch::callOf(const answers::Activation &A) {
  RuntimeCall Result;
  Result.Time = A.Entry;
  uint64_t Pc = A.CallSite ? A.CallSite : A.Callee;
  if (A.CallSite && A.Entry)
    // Another thread may have run between the call and the callee.
    if (Error E =
            T.executions({A.CallSite, A.CallSite}, {0, A.Entry - 1}, A.Thread,
                         /*Backward=*/true, [&](const answers::Execution &X) {
                           Result.Time = X.Time;
                           return false;
                         }))
      return E;
  Result.Where = questions::placeAt(T, Pc, Result.Time);
  Expected<std::optional<questions::Place>> Caller =
      questions::callerOfSystemCode(T, Result.Where, A.Thread, Result.Time);
  if (!Caller)
    return Caller.takeError();
  Result.Caller = std::move(*Caller);
  return Result;
}

/// Where the exception that was raised is caught. Throw: the call of the
/// runtime that raised it.
Expected<std::optional<RuntimeCall>>
ExceptionSearch::handlerOf(const answers::Execution &Raise,
                           const answers::Activation &Throw, uint64_t Header) {
  std::vector<CodePlace> Both = Catches;
  append_range(Both, Raises);
  Expected<std::optional<Match>> Found =
      next(Both, Header, Raise.Thread, {Raise.Time + 1, T.instructions()});
  if (!Found)
    return Found.takeError();
  // Another exception at the same address: this one was left by a longjmp.
  if (!*Found || !(*Found)->Catches)
    return std::nullopt;
  const answers::Execution &Catch = (*Found)->Execution;
  // The runtime itself catches what nothing else does, and terminates. Then
  // the call that threw is still under way.
  Expected<std::optional<Timestamp>> Left = T.returnOf(Throw);
  if (!Left)
    return Left.takeError();
  if (!*Left || **Left > Catch.Time)
    return std::nullopt;
  Expected<Stack> Frames = T.callStack(Catch.Thread, Catch.Time, 1);
  if (!Frames)
    return Frames.takeError();
  if (Frames->empty())
    return std::nullopt;
  Expected<RuntimeCall> Handler = callOf(Frames->front());
  if (!Handler)
    return Handler.takeError();
  const std::optional<symbols::CodeSymbol> &Symbol = Handler->Where.Symbol;
  // What clang calls where an exception would leave a noexcept function.
  if (Symbol && Symbol->Frames.back().LinkageName == "__clang_call_terminate")
    return std::nullopt;
  return *Handler;
}

/// What the program itself got when it called what() for this object.
Expected<std::optional<std::string>>
ExceptionSearch::whatReturned(const ExceptionObject &Object,
                              const answers::Execution &Raise,
                              uint64_t Header) {
  Expected<std::optional<ExceptionObject::WhatFunction>> What =
      Object.whatFunction();
  if (!What)
    return What.takeError();
  if (!*What)
    return std::nullopt;
  const answers::TimeRange After{Raise.Time + 1, T.instructions()};
  const uint64_t Code = (*What)->Code;
  Expected<std::optional<Match>> Call =
      next({{{Code, Code}, After}}, (*What)->This, Raise.Thread, After);
  if (!Call)
    return Call.takeError();
  if (!*Call)
    return std::nullopt;
  const answers::Execution &X = (*Call)->Execution;
  // By then the object may be another exception's.
  Expected<std::optional<Match>> Other =
      next(Raises, Header, Raise.Thread, {Raise.Time + 1, X.Time});
  if (!Other)
    return Other.takeError();
  if (*Other)
    return std::nullopt;
  Expected<Stack> Frames = T.callStack(X.Thread, X.Time, 1);
  if (!Frames)
    return Frames.takeError();
  if (Frames->empty())
    return std::nullopt;
  Expected<std::optional<Timestamp>> Return = T.returnOf(Frames->front());
  if (!Return)
    return Return.takeError();
  if (!*Return)
    return std::nullopt;
  Expected<answers::Registers> R = T.registers(X.Thread, **Return);
  if (!R)
    return R.takeError();
  return textAt(T, R->word(CH_OFFSET_RAX), **Return);
}

Expected<std::optional<ExceptionAnswer>>
ExceptionSearch::answer(const answers::Execution &X) {
  Expected<uint64_t> Header = firstArgument(T, X);
  if (!Header)
    return Header.takeError();
  Expected<std::optional<ExceptionObject>> Object =
      ExceptionObject::at(T, *Header, X.Time);
  if (!Object)
    return Object.takeError();
  if (!*Object)
    return std::nullopt;
  Expected<Stack> Frames = T.callStack(X.Thread, X.Time);
  if (!Frames)
    return Frames.takeError();
  if (Frames->empty())
    return std::nullopt;
  // Behind the unwinder's functions comes the runtime's that called them.
  auto IsUnwinder = [&](const answers::Activation &A) {
    std::optional<symbols::CodeSymbol> S = T.symbols().find(A.Pc, X.Time);
    return S && StringRef(S->Frames.back().LinkageName).starts_with("_Unwind_");
  };
  auto Thrower = find_if_not(drop_begin(*Frames), IsUnwinder);
  if (Thrower == Frames->end())
    return std::nullopt;
  const answers::Activation &Throw = *Thrower;
  ExceptionAnswer Answer;
  Answer.Thread = X.Thread;
  Answer.Object = (*Object)->address();
  Answer.Type = (*Object)->typeName().str();
  if (auto Symbol = T.symbols().find(Throw.Pc, X.Time))
    Answer.Rethrown =
        StringRef(Symbol->Frames.back().LinkageName).contains("rethrow");
  Expected<RuntimeCall> Thrown = callOf(Throw);
  if (!Thrown)
    return Thrown.takeError();
  Answer.Thrown = std::move(*Thrown);
  Expected<std::optional<RuntimeCall>> Handler = handlerOf(X, Throw, *Header);
  if (!Handler)
    return Handler.takeError();
  Answer.Caught = std::move(*Handler);
  Expected<std::optional<std::string>> What = (*Object)->message();
  if (What && !*What)
    What = whatReturned(**Object, X, *Header);
  if (!What)
    return What.takeError();
  Answer.What = std::move(*What);
  return Answer;
}

Expected<questions::SearchEnd>
searchExceptions(const query::Trace &T, const questions::SearchOptions &Options,
                 questions::Visitor<ExceptionAnswer> Visit,
                 const answers::Cancellation &Cancel) {
  ExceptionSearch Search(T, Cancel);
  if (Error E = Search.prepare(Options.When))
    return E;
  std::vector<CodePlace> Places = Search.raises().vec();
  for (CodePlace &P : Places)
    P.When.Last = std::min(P.When.Last, Options.When.Last);
  erase_if(Places,
           [](const CodePlace &P) { return P.When.First > P.When.Last; });
  questions::AnswerSink<ExceptionAnswer> Sink(Options.Limit, Visit);
  return Sink.finish(questions::mergedExecutions(
      T, Places, Options,
      [&](const answers::Execution &X) {
        return Sink.offer([&] { return Search.answer(X); });
      },
      Cancel));
}

} // namespace chronicle::exceptions
