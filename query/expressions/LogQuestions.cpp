// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/expressions/LogQuestions.h"
#include "query/expressions/EvaluationError.h"
#include "query/expressions/StartFinder.h"
#include "query/questions/CallQuestions.h"
#include "query/questions/ExecutionQuestions.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::expressions {

LogReader::~LogReader() = default;

Expected<LoggedValue> LogReader::show(const Question &, const Outcome &O,
                                      const CodeMoment &, StateReader &State) {
  constexpr size_t MostText = 4096;
  LoggedValue Result;
  Result.Known = O.What == Outcome::Kind::Value;
  if (!Result.Known) {
    Result.Text = O.Why;
    return Result;
  }
  Result.Text = plainText(O.Result);
  Result.Type = O.Result.Of->Name;
  if (O.Result.Target && O.Result.Target->What == Type::Kind::Character)
    if (Error E =
            pointedText(O.Result, State, MostText).moveInto(Result.Pointed))
      return E;
  return Result;
}

Expected<bool> LogReader::holds(const Question &, const Outcome &O,
                                const CodeMoment &) {
  return O.What == Outcome::Kind::NoValue ? noValue(O.Why) : notSimple(O.Why);
}

namespace {
/// An execution that was found, and what became of it.
struct Hit {
  answers::Execution Execution;
  CodeMoment At;
  bool Wanted = false;
  std::vector<LoggedValue> Values;
};

class LogSearch {
public:
  LogSearch(const query::Trace &T, const LogRequest &Request, LogReader &Reader,
            const answers::Cancellation &Cancel)
      : T(T), Request(Request), Reader(Reader), Cancel(Cancel), E(T),
        Starts(T, E), Condition(Request.Where) {
    for (const std::string &Each : Request.Print)
      Columns.emplace_back(Each);
  }

  Expected<LogEnd> run(questions::Visitor<LogRow> Visit);

private:
  bool isFunction() const {
    const auto *F = std::get_if<questions::FunctionName>(&Request.Code);
    return F && !F->Whole;
  }
  Error finish(MutableArrayRef<Hit> Hits);
  Error finish(Hit &H);
  /// Where the expressions are evaluated. Nothing: the call ended before.
  Expected<std::optional<CodeMoment>> momentOf(const answers::Execution &X);
  unsigned insideOf(uint64_t Pc, Timestamp Time);
  Expected<bool> wants(const CodeMoment &At);
  void leaveOut(Timestamp Time, const std::string &Why) {
    // Hits come in stretches, each in order of time.
    if (!Unknown.Count++ || Time < Unknown.First) {
      Unknown.First = Time;
      Unknown.Why = Why;
    }
  }

  const query::Trace &T;
  const LogRequest &Request;
  LogReader &Reader;
  const answers::Cancellation &Cancel;
  Evaluator E;
  StartFinder Starts;
  Question Condition;
  std::vector<Question> Columns;
  std::vector<questions::CodePlace> Places;
  std::map<uint64_t, unsigned> Insides; ///< by pc
  LeftOut Unknown;
};
} // namespace

/// How many inlined functions are at Pc inside the one that is meant: of a
/// line, the one that has the line.
unsigned LogSearch::insideOf(uint64_t Pc, Timestamp Time) {
  const auto *Line = std::get_if<questions::SourceLine>(&Request.Code);
  auto [It, New] = Insides.try_emplace(Pc, 0);
  if (!New)
    return It->second;
  std::optional<symbols::CodeSymbol> Symbol = T.symbols().find(Pc, Time);
  if (!Symbol)
    return 0;
  auto Inlined = find_if(Places, [&](const questions::CodePlace &P) {
    return P.Inlined && P.Range.First == Pc;
  });
  const auto &Frames = Symbol->Frames;
  for (size_t I = 0; I < Frames.size(); ++I)
    if (Inlined != Places.end()
            ? Frames[I].LinkageName == Inlined->Inlined->LinkageName
            : Line && Frames[I].Line == Line->Line &&
                  StringRef(Frames[I].File).ends_with(Line->File)) {
      It->second = unsigned(I);
      return It->second;
    }
  // A function itself is the outermost one.
  if (isFunction())
    It->second = unsigned(Frames.size() - 1);
  return It->second;
}

Expected<std::optional<CodeMoment>>
LogSearch::momentOf(const answers::Execution &X) {
  CodeMoment At{X.Time, X.Thread, X.Pc, insideOf(X.Pc, X.Time)};
  if (!isFunction() || any_of(Places, [&](const questions::CodePlace &P) {
        return P.Inlined && P.Range.First == X.Pc;
      }))
    return At;
  Expected<std::optional<CodeMoment>> Start = Starts.start(At);
  if (Start && *Start)
    (*Start)->Inside = insideOf((*Start)->Pc, (*Start)->Time);
  return Start;
}

Expected<bool> LogSearch::wants(const CodeMoment &At) {
  if (Condition.text().empty())
    return true;
  Expected<Outcome> O = E.evaluate(Condition, At);
  if (!O)
    return O.takeError();
  if (O->What == Outcome::Kind::Value)
    return O->Result.isTrue();
  Expected<bool> Holds = Reader.holds(Condition, *O, At);
  if (Holds)
    return Holds;
  bool NotSimple = false;
  std::string Why;
  if (Error Failed =
          handleErrors(Holds.takeError(), [&](const EvaluationError &Each) {
            NotSimple = Each.kind() == EvaluationError::Kind::NotSimple;
            Why = Each.why();
          }))
    return Failed;
  if (NotSimple)
    return createStringError("cannot evaluate '" + Condition.text() +
                             "': " + Why);
  leaveOut(At.Time, Why);
  return false;
}

Error LogSearch::finish(Hit &H) {
  if (isFunction()) {
    Expected<bool> IsCall = questions::isCall(T, Places, H.Execution, Cancel);
    if (!IsCall)
      return IsCall.takeError();
    if (!*IsCall)
      return Error::success();
  }
  Expected<std::optional<CodeMoment>> At = momentOf(H.Execution);
  if (!At)
    return At.takeError();
  static const std::string Early = "the call ended in its prologue";
  H.At = At->value_or(
      CodeMoment{H.Execution.Time, H.Execution.Thread, H.Execution.Pc, 0});
  if (!*At) {
    if (!Condition.text().empty()) {
      leaveOut(H.At.Time, Early);
      return Error::success();
    }
    H.Wanted = true;
    H.Values.resize(Columns.size());
    for (LoggedValue &V : H.Values)
      V.Text = Early;
    return Error::success();
  }
  if (Error Failed = wants(H.At).moveInto(H.Wanted))
    return Failed;
  if (!H.Wanted)
    return Error::success();
  for (Question &Column : Columns) {
    Expected<Outcome> O = E.evaluate(Column, H.At);
    if (!O)
      return O.takeError();
    Expected<LoggedValue> Shown = Reader.show(Column, *O, H.At, E.state());
    if (!Shown)
      return Shown.takeError();
    H.Values.push_back(std::move(*Shown));
  }
  return Error::success();
}

/// In order of time, because that is cheap.
Error LogSearch::finish(MutableArrayRef<Hit> Hits) {
  auto One = [&](Hit &H) {
    return Cancel.Cancelled ? Error::success() : finish(H);
  };
  if (Request.Options.Backward) {
    for (Hit &H : reverse(Hits))
      if (Error Failed = One(H))
        return Failed;
  } else {
    for (Hit &H : Hits)
      if (Error Failed = One(H))
        return Failed;
  }
  return Error::success();
}

Expected<LogEnd> LogSearch::run(questions::Visitor<LogRow> Visit) {
  Expected<std::vector<questions::CodePlace>> Found =
      questions::findCode(T, Request.Code, Request.Options.When, Cancel);
  if (!Found)
    return Found.takeError();
  Places = std::move(*Found);
  questions::AnswerSink<LogRow> Sink(Request.Options.Limit, Visit);
  std::vector<Hit> Batch;
  // Few at first: the limit may be reached soon.
  constexpr size_t MostHits = 4096;
  size_t Size =
      size_t(std::min<uint64_t>(Request.Options.Limit, MostHits - 1) + 1);
  Error Failure = Error::success();
  auto Flush = [&] {
    if (Error Failed = finish(Batch)) {
      Failure = joinErrors(std::move(Failure), std::move(Failed));
      return false;
    }
    bool More = !Cancel.Cancelled;
    for (Hit &H : Batch) {
      if (!H.Wanted)
        continue;
      if (!Sink.add({H.At, questions::placeAt(T, H.At.Pc, H.At.Time),
                     std::move(H.Values)})) {
        More = false;
        break;
      }
    }
    Batch.clear();
    Size = std::min(Size * 4, MostHits);
    return More;
  };
  bool Goes = true;
  Error Searched = questions::mergedExecutions(
      T, Places, Request.Options,
      [&](const answers::Execution &X) {
        Batch.push_back({X, {}, false, {}});
        if (Batch.size() >= Size)
          Goes = Flush();
        return Goes;
      },
      Cancel);
  if (!Searched && Goes)
    Flush();
  Expected<questions::SearchEnd> End =
      Sink.finish(joinErrors(std::move(Searched), std::move(Failure)));
  if (!End)
    return End.takeError();
  return LogEnd{*End, Unknown};
}

Expected<LogEnd> searchLog(const query::Trace &T, const LogRequest &Request,
                           LogReader &Reader, questions::Visitor<LogRow> Visit,
                           const answers::Cancellation &Cancel) {
  return LogSearch(T, Request, Reader, Cancel).run(Visit);
}

} // namespace chronicle::expressions
