// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/logs/CallSearch.h"
#include "query/questions/CodePlaces.h"
#include "query/symbols/Symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace chronicle::logs {

using commands::SearchResult;
using commands::SearchStatus;
using expressions::LoggedValue;
using expressions::Outcome;
using questions::CallAnswer;
using values::CallMoment;
using values::CallValues;

/// How many functions the name or the pattern is about.
static size_t countFunctions(const query::Trace &T, StringRef Name) {
  symbols::FunctionCode Found = T.symbols().functionCode(Name);
  StringSet<> Names;
  for (const symbols::SymbolAt &Each : Found.Functions)
    Names.insert(Each.LinkageName);
  for (const symbols::InlinedAt &Each : Found.Inlined)
    Names.insert(Each.Code.LinkageName);
  // All that a pattern matches are never left out together.
  return Names.empty() ? SIZE_MAX : Names.size();
}

static CallMoment momentOf(const CallAnswer &Found) {
  CallMoment Moment;
  Moment.Entry = Found.Entry;
  if (Found.End) {
    Moment.Return = Found.End->returned();
    Moment.Left = Found.End->Time;
  }
  Moment.Thread = Found.Thread;
  Moment.Function = Found.Function.Pc;
  Moment.Inlined = Found.Inlined;
  Moment.InlinedInside = unsigned(Found.InlinedInside);
  return Moment;
}

static bool isExpression(StringRef GroupBy) {
  return !GroupBy.empty() && GroupBy != "caller" && GroupBy != "thread";
}

CallSearch::CallSearch(commands::CommandCall &Call, const query::Trace &T,
                       values::CallReader Reader, target::Scout &There,
                       CallRequest Given)
    : Call(Call), T(T), Reader(std::move(Reader)), Request(std::move(Given)),
      Filter(Request.Where,
             Request.Where.empty() ? 0 : countFunctions(T, Request.Function)),
      Values(There), Evaluator(T), Condition(Request.Where) {
  for (const std::string &Each : Request.Print)
    Columns.emplace_back(Each);
  if (isExpression(Request.GroupBy))
    Columns.emplace_back(Request.GroupBy);
}

std::string CallSearch::misunderstood() const {
  for (const expressions::Question &Each : Columns)
    if (std::optional<std::string> Why = Values.misunderstood(Each.text()))
      return formatv("cannot evaluate '{0}' at a call of {1}: {2}", Each.text(),
                     Request.Function, *Why);
  return "";
}

Expected<bool>
CallSearch::wants(const Found &F,
                  const std::optional<expressions::CodeMoment> &At) {
  if (Filter.empty())
    return true;
  const bool AboutResult = StringRef(Request.Where).contains("$result");
  if (At) {
    Expected<Outcome> O = Evaluator.evaluate(Condition, *At);
    if (!O)
      return O.takeError();
    if (O->What == Outcome::Kind::Value)
      return O->Result.isTrue();
    // LLDB does not know what the call will return.
    if (AboutResult && O->What == Outcome::Kind::NotSimple)
      return Filter.refuse(values::fullName(F.Call.Function, F.Call.Inlined),
                           O->Why);
    if (O->What == Outcome::Kind::NoValue)
      return Filter.leaveOutCall(F.Call.Entry, O->Why);
  } else if (AboutResult) {
    return Filter.leaveOutCall(F.Call.Entry, "the call ended in its prologue");
  }
  const CallMoment Moment = momentOf(F.Call);
  Expected<std::optional<std::vector<values::Parameter>>> Parameters =
      Reader.parameters(Moment);
  if (!Parameters)
    return Parameters.takeError();
  return Filter.wants(Reader, Moment,
                      values::fullName(F.Call.Function, F.Call.Inlined),
                      *Parameters);
}

Error CallSearch::decide(Found &F) {
  F.Start = F.Call.Entry;
  F.Wanted = true;
  if (Filter.empty() && Columns.empty())
    return Error::success();
  Expected<std::optional<expressions::CodeMoment>> At = Evaluator.go(F.Call);
  if (!At)
    return At.takeError();
  if (*At)
    F.Start = (*At)->Time;
  if (Error E = wants(F, *At).moveInto(F.Wanted))
    return E;
  if (!F.Wanted)
    return Error::success();
  for (expressions::Question &Column : Columns) {
    LoggedValue Shown;
    Shown.Text = "not set up yet";
    if (*At) {
      Expected<Outcome> O = Evaluator.evaluate(Column, **At);
      if (!O)
        return O.takeError();
      // LLDB does not know what the call will return.
      if (O->What == Outcome::Kind::NotSimple &&
          StringRef(Column.text()).contains("$result"))
        O->What = Outcome::Kind::NoValue;
      if (Error E =
              Values.show(Column, *O, **At, Evaluator.state()).moveInto(Shown))
        return E;
    }
    F.Printed.push_back(std::move(Shown));
  }
  return Error::success();
}

Error CallSearch::search(questions::SearchOptions Options, SearchStatus &Status,
                         function_ref<Expected<bool>(Found &)> Visit) {
  // A few at a time, because LLDB may have to say which are wanted. Few at
  // first: one batch may be enough.
  constexpr uint64_t Most = 4096;
  uint64_t Size = std::min<uint64_t>(Options.Limit, Most - 1) + 1;
  bool More = true;
  while (More && !Status.Interrupted) {
    Options.Limit = Size;
    Size = std::min(Size * 4, Most);
    Expected<SearchResult<CallAnswer>> Some =
        Call.collect<CallAnswer>([&](questions::Visitor<CallAnswer> Each,
                                     const answers::Cancellation &Cancel) {
          return questions::searchCalls(T, Request.Function, Options, Each,
                                        Cancel);
        });
    if (!Some)
      return Some.takeError();
    More = Some->More;
    Status.Interrupted = Some->Interrupted;
    std::vector<Found> Batch;
    for (CallAnswer &Each : Some->Answers)
      Batch.push_back({std::move(Each), false, 0, {}});
    // In order of time, because that is cheap.
    size_t Decided = 0;
    for (; Decided < Batch.size() && !Call.interrupted(); ++Decided)
      if (Error E = decide(
              Batch[Options.Backward ? Batch.size() - 1 - Decided : Decided]))
        return E;
    Status.Interrupted |= Decided < Batch.size();
    for (Found &F : Batch) {
      if (Options.Backward)
        Options.When.Last = F.Call.Entry - (F.Call.Entry > 0);
      else
        Options.When.First = F.Call.Entry + 1;
      if (!F.Wanted)
        continue;
      Expected<bool> Goes = Visit(F);
      if (!Goes)
        return Goes.takeError();
      if (!*Goes)
        return Error::success();
    }
  }
  return Error::success();
}

Expected<CallValues> CallSearch::valuesOf(const CallAnswer &Found) {
  const CallMoment Moment = momentOf(Found);
  CallValues Result;
  if (Error E = Reader.parameters(Moment).moveInto(Result.Parameters))
    return E;
  if (Error E = Reader.start(Moment).moveInto(Result.Start))
    return E;
  if (Error E = Reader.result(Moment).moveInto(Result.Result))
    return E;
  return Result;
}

Expected<SearchResult<CallRow>>
CallSearch::run(questions::SearchOptions Options) {
  SearchResult<CallRow> Result;
  const uint64_t Limit = Options.Limit;
  Error E = search(Options, Result, [&](Found &F) -> Expected<bool> {
    if (Result.Answers.size() == Limit) {
      Result.More = true;
      return false;
    }
    if (Call.interrupted()) {
      Result.Interrupted = true;
      return false;
    }
    Expected<CallValues> Shown = valuesOf(F.Call);
    if (!Shown)
      return Shown.takeError();
    Result.Answers.push_back(
        {{std::move(F.Call), std::move(*Shown)}, std::move(F.Printed)});
    return true;
  });
  if (E)
    return E;
  Result.More |= Result.Interrupted;
  return Result;
}

Expected<expressions::CallGroups>
CallSearch::group(questions::SearchOptions Options, SearchStatus &Status) {
  expressions::CallGroups Result;
  Options.Limit = UINT64_MAX;
  Error E = search(Options, Status, [&](Found &F) -> Expected<bool> {
    std::string Key;
    if (Request.GroupBy == "caller")
      Key = expressions::callerKey(F.Call);
    else if (Request.GroupBy == "thread")
      Key = std::to_string(F.Call.Thread);
    else
      Key = F.Printed.back().Known ? F.Printed.back().Text
                                   : "<" + F.Printed.back().Text + ">";
    Result.add(Key, F.Start);
    return true;
  });
  if (E)
    return E;
  return Result;
}

} // namespace chronicle::logs
