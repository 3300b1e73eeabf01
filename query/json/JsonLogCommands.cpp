// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// log, calls, tree.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"

using namespace llvm;

namespace chronicle::jsonapi {

json::Array jsonValues(ArrayRef<expressions::LoggedValue> Given,
                       ArrayRef<std::string> Expressions) {
  json::Array Values;
  for (const auto &[Text, V] : zip(Expressions, Given)) {
    json::Object Each{{"expression", jsonText(Text)}};
    if (V.Known) {
      Each["value"] = jsonText(V.Text);
      Each["type"] = jsonText(V.Type);
    } else {
      Each["error"] = jsonText(V.Text);
    }
    if (V.Pointed)
      Each["text"] = jsonText(*V.Pointed);
    Values.push_back(std::move(Each));
  }
  return Values;
}

json::Object toJSON(const expressions::CallGroup &G) {
  return json::Object{{"value", jsonText(G.Key)},
                      {"count", G.Count},
                      {"first", G.First},
                      {"last", G.Last}};
}

json::Object toJSON(const expressions::LogRow &Row,
                    ArrayRef<std::string> Expressions) {
  return json::Object{{"time", Row.At.Time},
                      {"thread", Row.At.Thread},
                      {"pc", hexNumber(Row.At.Pc)},
                      {"symbol", toJSON(Row.Where)},
                      {"values", jsonValues(Row.Values, Expressions)}};
}

json::Value toJSON(const expressions::LeftOut &L) {
  if (!L.Count)
    return nullptr;
  return json::Object{
      {"count", L.Count}, {"first", L.First}, {"why", jsonText(L.Why)}};
}

static Expected<json::Value> log(JsonQuery &Q) {
  expressions::LogRequest Request;
  Request.Options = searchArguments(Q);
  Request.Options.Backward = Q.Arguments.flag("backward", false);
  Request.Options.Thread = threadArgument(Q);
  Request.Where = Q.Arguments.text("where", "");
  if (Q.Arguments.has("print"))
    Request.Print = Q.Arguments.texts("print");
  Expected<questions::CodeSelector> Code = codeArgument(Q);
  if (!Code)
    return Code.takeError();
  Request.Code = std::move(*Code);
  expressions::LogReader Reader;
  Expected<expressions::LogEnd> End = expressions::searchLog(
      Q.T, Request, Reader,
      [&](const expressions::LogRow &Row) {
        return Q.Emit(toJSON(Row, Request.Print));
      },
      Q.Cancel);
  if (!End)
    return End.takeError();
  json::Object Result = toJSON(static_cast<const questions::SearchEnd &>(*End));
  if (End->Unknown.Count)
    Result["left-out"] = toJSON(End->Unknown);
  return Result;
}

// ---- calls ----

using expressions::LoggedValue;
using expressions::Outcome;

namespace {
/// Chooses calls, shows values of expressions, and counts.
class CallAnswers {
public:
  CallAnswers(const query::Trace &T, StringRef Where,
              std::vector<std::string> Print, StringRef GroupBy)
      : Evaluator(T), Condition(Where), Print(std::move(Print)),
        GroupBy(GroupBy) {
    for (const std::string &Each : this->Print)
      Columns.emplace_back(Each);
    if (!GroupBy.empty() && GroupBy != "caller" && GroupBy != "thread")
      Columns.emplace_back(GroupBy);
  }

  /// Nothing: the call is not wanted, or only counted.
  Expected<std::optional<json::Object>>
  answer(const questions::CallAnswer &Call) {
    std::optional<expressions::CodeMoment> At;
    std::vector<LoggedValue> Values;
    if (!Condition.text().empty() || !Columns.empty()) {
      if (Error E = Evaluator.go(Call).moveInto(At))
        return E;
      Expected<bool> Wanted = wants(Call, At);
      if (!Wanted)
        return Wanted.takeError();
      if (!*Wanted)
        return std::nullopt;
      if (Error E = valuesAt(At).moveInto(Values))
        return E;
    }
    if (!GroupBy.empty()) {
      Groups.add(keyOf(Call, Values), At ? At->Time : Call.Entry);
      return std::nullopt;
    }
    json::Object Result = toJSON(Call);
    if (!Print.empty())
      Result["values"] = jsonValues(Values, Print);
    return Result;
  }

  expressions::CallGroups Groups;
  expressions::LeftOut Unknown;

private:
  Expected<bool> wants(const questions::CallAnswer &Call,
                       const std::optional<expressions::CodeMoment> &At) {
    if (Condition.text().empty())
      return true;
    Outcome O;
    O.What = Outcome::Kind::NoValue;
    O.Why = "the call ended in its prologue";
    if (At)
      if (Error E = Evaluator.evaluate(Condition, *At).moveInto(O))
        return E;
    if (O.What == Outcome::Kind::Value)
      return O.Result.isTrue();
    if (O.What == Outcome::Kind::NotSimple)
      return queryError("bad-argument",
                        "cannot evaluate '" + Condition.text() + "': " + O.Why);
    if (!Unknown.Count++) {
      Unknown.First = Call.Entry;
      Unknown.Why = O.Why;
    }
    return false;
  }

  Expected<std::vector<LoggedValue>>
  valuesAt(const std::optional<expressions::CodeMoment> &At) {
    std::vector<LoggedValue> Result;
    for (expressions::Question &Column : Columns) {
      LoggedValue Shown;
      Shown.Text = "the call ended in its prologue";
      if (At) {
        Expected<Outcome> O = Evaluator.evaluate(Column, *At);
        if (!O)
          return O.takeError();
        if (Error E =
                Reader.show(Column, *O, *At, Evaluator.state()).moveInto(Shown))
          return E;
      }
      Result.push_back(std::move(Shown));
    }
    return Result;
  }

  std::string keyOf(const questions::CallAnswer &Call,
                    ArrayRef<LoggedValue> Values) const {
    if (GroupBy == "caller")
      return expressions::callerKey(Call);
    if (GroupBy == "thread")
      return std::to_string(Call.Thread);
    return Values.back().Known ? Values.back().Text
                               : "<" + Values.back().Text + ">";
  }

  expressions::CallEvaluator Evaluator;
  expressions::LogReader Reader;
  expressions::Question Condition;
  std::vector<std::string> Print;
  std::string GroupBy;
  std::vector<expressions::Question> Columns; ///< the last one may group
};
} // namespace

Expected<json::Value> calls(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  Options.Thread = threadArgument(Q);
  const std::string Function = Q.Arguments.text("function");
  const std::string Where = Q.Arguments.text("where", ""),
                    GroupBy = Q.Arguments.text("group-by", "");
  std::vector<std::string> Print;
  if (Q.Arguments.has("print"))
    Print = Q.Arguments.texts("print");
  if (!Print.empty() && !GroupBy.empty())
    Q.Arguments.fail("bad-argument", "give 'print' or 'group-by', not both");
  if (Error E = Q.Arguments.finish())
    return E;
  CallAnswers Answers(Q.T, Where, std::move(Print), GroupBy);
  auto Emit = [&](json::Value Each) { return Q.Emit(std::move(Each)); };
  questions::AnswerSink<json::Value> Sink(
      GroupBy.empty() ? Options.Limit : UINT64_MAX, Emit);
  const uint64_t Limit = std::exchange(Options.Limit, UINT64_MAX);
  Expected<questions::SearchEnd> Searched = questions::searchCalls(
      Q.T, Function, Options,
      [&](const questions::CallAnswer &Call) {
        return Sink.offer([&]() -> Expected<std::optional<json::Value>> {
          Expected<std::optional<json::Object>> Made = Answers.answer(Call);
          if (!Made)
            return Made.takeError();
          if (!*Made)
            return std::nullopt;
          return json::Value(std::move(**Made));
        });
      },
      Q.Cancel);
  Expected<questions::SearchEnd> End =
      Sink.finish(Searched ? Error::success() : Searched.takeError());
  if (!End)
    return End.takeError();
  if (!GroupBy.empty()) {
    for (const expressions::CallGroup &G : Answers.Groups.sorted()) {
      End->More = End->Count == Limit;
      if (End->More || !Q.Emit(toJSON(G)))
        break;
      ++End->Count;
    }
  }
  json::Object Result = toJSON(*End);
  if (Answers.Unknown.Count)
    Result["left-out"] = toJSON(Answers.Unknown);
  return Result;
}

// ---- tree ----

json::Object toJSON(const expressions::TreeCall &C) {
  json::Object Result{{"depth", C.Depth},
                      {"entry", C.Call.Entry},
                      {"thread", C.Call.Thread},
                      {"function", jsonText(C.Function)},
                      {"pc", hexNumber(C.Call.Function.Pc)}};
  if (C.Folded) {
    Result["folded"] = C.Folded;
    Result["last"] = C.Last;
    Result["may-go-on"] = C.MayGoOn;
    return Result;
  }
  if (C.HasArguments) {
    std::vector<std::string> Names;
    std::vector<expressions::LoggedValue> Values;
    for (const auto &[Name, Value] : C.Arguments) {
      Names.push_back(Name);
      Values.push_back(Value);
    }
    Result["arguments"] = jsonValues(Values, Names);
  }
  if (C.Result)
    Result["result"] = jsonText(C.Result->Text);
  Result["instructions"] = C.Instructions;
  Result["left"] = jsonOptional(C.Call.End->Time);
  Result["left-by"] = nameOf(C.Call.End->How);
  return Result;
}

static Expected<json::Value> tree(JsonQuery &Q) {
  expressions::TreeRequest Request;
  constexpr uint64_t DefaultDepth = 3, DefaultLimit = 100;
  Request.Depth =
      unsigned(Q.Arguments.number("depth", DefaultDepth, 0, UINT32_MAX));
  Request.Limit = Q.Arguments.number("limit", DefaultLimit, 1, UINT64_MAX - 1);
  const bool Range = Q.Arguments.has("from") || Q.Arguments.has("to");
  if (Range && Q.Arguments.has("at"))
    Q.Arguments.fail("bad-argument",
                     "'at' cannot be combined with 'from' and 'to'");
  Request.When = Q.Arguments.times();
  if (Range) {
    uint32_t Thread = threadArgument(Q);
    if (Error E = Q.Arguments.finish())
      return E;
    if (Error E = questions::liveThread(Q.T, Thread, Request.When.First)
                      .moveInto(Thread))
      return E;
    Expected<std::optional<answers::Activation>> Root =
        expressions::callDuring(Q.T, Thread, Request.When);
    if (!Root)
      return Root.takeError();
    if (!*Root)
      return queryError("not-found", "thread " + Twine(Thread) +
                                         " is in no call all that time");
    Request.Root = **Root;
  } else if (Error E = activationArgument(Q).moveInto(Request.Root)) {
    return E;
  }
  expressions::LogReader Reader;
  return toJSON(expressions::searchTree(
      Q.T, Request, Reader,
      [&](const expressions::TreeCall &C) { return Q.Emit(toJSON(C)); },
      Q.Cancel));
}

ArrayRef<JsonCommand> jsonLogCommands() {
  static const JsonCommand Table[] = {
      {"log", true, log},
      {"tree", true, tree},
  };
  return Table;
}

} // namespace chronicle::jsonapi
