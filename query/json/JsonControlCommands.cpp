// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// why-here and why-not.

#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"

using namespace llvm;

namespace chronicle::jsonapi {

static json::Object toJSON(const answers::Condition &C,
                           const std::optional<questions::Place> &Compared) {
  json::Array Operands;
  for (const answers::ConditionOperand &O : C.Operands) {
    json::Object Each = toJSON(O.Place);
    Each["value"] = jsonBytes(O.Value);
    Each["at"] = O.At;
    Operands.push_back(std::move(Each));
  }
  json::Object Result{{"operands", std::move(Operands)}};
  if (Compared) {
    Result["time"] = C.Compared;
    Result["pc"] = hexNumber(C.ComparedPc);
    Result["symbol"] = toJSON(*Compared);
  }
  return Result;
}

json::Object toJSON(const control::ControlStep &S) {
  using Kind = control::ControlStep::Kind;
  json::Object Result{{"kind", control::nameOf(S.What).str()},
                      {"time", S.Time},
                      {"thread", S.Thread},
                      {"pc", hexNumber(S.Pc)},
                      {"symbol", toJSON(S.Where)}};
  if (S.What == Kind::Branch || S.What == Kind::IndirectJump) {
    Result["jumped"] = S.Jumped;
    Result["to"] = hexNumber(S.To);
    Result["certain"] = S.Certain;
    Result["condition"] = toJSON(S.Condition, S.Compared);
    Result["repeated"] = S.Repeated;
    Result["repeats"] = jsonOptional(S.Repeats);
  }
  if (S.What == Kind::Call)
    Result["to"] = hexNumber(S.To);
  if (!S.Note.empty())
    Result["note"] = jsonText(S.Note);
  return Result;
}

json::Object toJSON(const control::ControlAnswer &A) {
  json::Array Steps;
  for (const control::ControlStep &S : A.Steps)
    Steps.push_back(toJSON(S));
  return json::Object{{"steps", std::move(Steps)}, {"complete", A.Complete}};
}

static Expected<json::Value> whyHere(JsonQuery &Q) {
  const uint64_t Frame = Q.Arguments.number("frame", 0);
  const uint64_t Limit = Q.Arguments.number("limit", 100, 1, 1000000);
  const bool All = Q.Arguments.flag("all", false);
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  origins::ValueEngine Engine(Q.T.reader());
  Expected<control::ControlAnswer> Answer = control::whyHere(
      Q.T, Engine, {M->Thread, M->At, size_t(Frame), All}, Limit, Q.Cancel);
  if (!Answer)
    return Answer.takeError();
  if (Answer->Steps.empty())
    return queryError("out-of-range", "the call stack at " + Twine(M->At) +
                                          " has no frame " + Twine(Frame));
  return toJSON(*Answer);
}

json::Object toJSON(const control::AbsenceAnswer &A) {
  json::Array Turns;
  for (const control::MissedTurn &M : A.Turns) {
    json::Object Each = toJSON(M.Last);
    Each.erase("repeated");
    Each.erase("repeats");
    Each["count"] = jsonOptional(M.Count);
    Each["went-there"] = M.WentThere;
    Turns.push_back(std::move(Each));
  }
  json::Object Result{{"pc", hexNumber(A.Code.Pc)},
                      {"symbol", toJSON(A.Code)},
                      {"ran", nullptr},
                      {"in-all", A.InAll},
                      {"distance", A.Distance},
                      {"turns", std::move(Turns)}};
  if (A.Ran)
    Result["ran"] =
        json::Object{{"time", A.Ran->Time}, {"thread", A.Ran->Thread}};
  if (!A.Note.empty())
    Result["note"] = jsonText(A.Note);
  return Result;
}

static Expected<json::Value> whyNot(JsonQuery &Q) {
  const bool OneCall = Q.Arguments.has("frame");
  const uint64_t Frame = Q.Arguments.number("frame", 0);
  const Timestamp At = Q.Arguments.time("at");
  uint32_t Thread = threadArgument(Q);
  Expected<questions::CodeSelector> Code = codeArgument(Q);
  if (!Code)
    return Code.takeError();
  Expected<std::vector<questions::CodePlace>> Places =
      questions::findCode(Q.T, *Code, {0, Q.T.instructions()}, Q.Cancel);
  if (!Places)
    return Places.takeError();
  std::optional<answers::Activation> Call;
  if (OneCall) {
    if (Error E = questions::liveThread(Q.T, Thread, At).moveInto(Thread))
      return E;
    Expected<std::vector<answers::Activation>> Stack =
        Q.T.callStack(Thread, At);
    if (!Stack)
      return Stack.takeError();
    if (Frame >= Stack->size())
      return queryError("out-of-range", "the call stack at " + Twine(At) +
                                            " has no frame " + Twine(Frame));
    Call = (*Stack)[Frame];
  }
  origins::ValueEngine Engine(Q.T.reader());
  Expected<control::AbsenceAnswer> Answer =
      control::whyNot(Q.T, Engine, *Places, Call, At, Q.Cancel);
  if (!Answer)
    return Answer.takeError();
  return toJSON(*Answer);
}

ArrayRef<JsonCommand> jsonControlCommands() {
  static const JsonCommand Table[] = {{"why-here", false, whyHere},
                                      {"why-not", false, whyNot}};
  return Table;
}

} // namespace chronicle::jsonapi
