// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write and writes of registers, and why.

#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"

using namespace llvm;

namespace chronicle::jsonapi {

// ---- writes to registers ----

/// A register's value as a number; null: none.
static json::Value hexDigits(ArrayRef<uint8_t> Value) {
  if (Value.empty())
    return nullptr;
  const std::vector<uint8_t> HighFirst(Value.rbegin(), Value.rend());
  const std::string All = toHex(HighFirst, /*LowerCase=*/true);
  StringRef Short = StringRef(All).ltrim('0');
  return ("0x" + (Short.empty() ? StringRef("0") : Short)).str();
}

json::Object toJSON(const variables::RegisterWriteAnswer &Answer) {
  const answers::RegisterWrite &W = Answer.Write;
  json::Object Result{{"time", W.Time},
                      {"by", writerName(W.By).str()},
                      {"thread", W.Thread},
                      {"pc", hexNumber(W.Pc)},
                      {"register", Answer.Register.Name},
                      {"size", int64_t(Answer.New.size())},
                      {"old", hexDigits(Answer.Old)},
                      {"new", hexDigits(Answer.New)},
                      {"symbol", toJSON(Answer.Where)}};
  if (Answer.Caller)
    Result["caller"] = toJSON(Answer.Caller);
  if (Answer.Call)
    Result["system-call"] = toJSON(*Answer.Call);
  return Result;
}

/// "register".
static Expected<registers::Register> registerArgument(JsonQuery &Q) {
  Expected<registers::Register> R =
      registers::registerNamed(Q.Arguments.text("register"));
  if (!R)
    return queryError("not-found", toString(R.takeError()));
  return R;
}

/// "at", "thread" and "frame": a call under way.
static Expected<variables::CallScope> scopeArgument(JsonQuery &Q) {
  const uint64_t Frame = Q.Arguments.number("frame", 0);
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<std::optional<variables::CallScope>> Scope =
      variables::callScope(Q.T, M->Thread, M->At, Frame);
  if (!Scope)
    return Scope.takeError();
  if (!*Scope)
    return queryError("out-of-range", "the call stack at " + Twine(M->At) +
                                          " has no frame " + Twine(Frame));
  return **Scope;
}

static Expected<json::Value>
oneWrite(JsonQuery &Q, decltype(variables::lastRegisterWrite) &Ask) {
  Expected<registers::Register> R = registerArgument(Q);
  if (!R)
    return R.takeError();
  Expected<variables::CallScope> Scope = scopeArgument(Q);
  if (!Scope)
    return Scope.takeError();
  origins::ValueEngine Engine(Q.T.reader());
  Expected<std::optional<variables::RegisterWriteAnswer>> Found =
      Ask(Q.T, Engine, *Scope, *R, Scope->Now, Q.Cancel);
  if (!Found)
    return Found.takeError();
  return *Found ? json::Value(toJSON(**Found)) : json::Value(nullptr);
}

Expected<json::Value> lastRegisterWrite(JsonQuery &Q) {
  return oneWrite(Q, variables::lastRegisterWrite);
}
Expected<json::Value> nextRegisterWrite(JsonQuery &Q) {
  return oneWrite(Q, variables::nextRegisterWrite);
}

Expected<json::Value> registerWrites(JsonQuery &Q,
                                     questions::SearchOptions Options) {
  Expected<registers::Register> R = registerArgument(Q);
  if (!R)
    return R.takeError();
  Options.Thread = threadArgument(Q);
  if (Error E = Q.Arguments.finish())
    return E;
  if (Error E = questions::liveThread(Q.T, Options.Thread, Options.When.Last)
                    .moveInto(Options.Thread))
    return E;
  origins::ValueEngine Engine(Q.T.reader());
  return toJSON(variables::searchRegisterWrites(
      Q.T, Engine, *R, Options,
      [&](const variables::RegisterWriteAnswer &W) {
        return Q.Emit(toJSON(W));
      },
      Q.Cancel));
}

// ---- origins ----

json::Object toJSON(const answers::ValuePlace &P) {
  json::Object Result{{"size", P.Size}};
  if (P.InMemory) {
    Result["address"] = hexNumber(P.Address);
    return Result;
  }
  const std::string Name =
      registers::nameOf({uint32_t(P.Address), std::max(P.Size, 1u)});
  Result["register"] = Name.empty() ? json::Value(nullptr) : json::Value(Name);
  Result["thread"] = P.Thread;
  return Result;
}

json::Object toJSON(const variables::OriginStepAnswer &S) {
  const answers::OriginStep &Step = S.Step;
  json::Object Result{{"time", Step.Time},
                      {"thread", Step.Thread},
                      {"value", jsonBytes(Step.Value)},
                      {"part-offset", Step.PartOffset},
                      {"next", jsonOptional(Step.Next)},
                      {"carries", S.Carries}};
  if (Step.To.Size)
    Result["to"] = toJSON(Step.To);
  if (Step.ByInstruction)
    Result["pc"] = hexNumber(Step.Pc);
  Result["symbol"] = toJSON(S.Where);
  if (S.Caller)
    Result["caller"] = toJSON(S.Caller);
  if (!Step.Made)
    return Result;
  Result["made"] = variables::nameOf(*Step.Made).str();
  if (*Step.Made == answers::OriginKind::Computed) {
    Result["operation"] = Step.Operation;
    json::Array Operands;
    for (const answers::OriginStep::Operand &O : Step.Operands) {
      json::Object Each = toJSON(O.Place);
      Each["value"] = jsonBytes(O.Value);
      Operands.push_back(std::move(Each));
    }
    Result["operands"] = std::move(Operands);
  }
  if (S.Call)
    Result["system-call"] = toJSON(*S.Call);
  if (S.MappedFrom)
    Result["mapped-from"] = toJSON(*S.MappedFrom);
  return Result;
}

json::Object toJSON(const variables::OriginAnswer &A) {
  json::Array Steps;
  for (const variables::OriginStepAnswer &S : A.Steps)
    Steps.push_back(toJSON(S));
  return json::Object{{"steps", std::move(Steps)}, {"complete", A.Complete}};
}

static json::Array toJSON(ArrayRef<answers::SliceEdge> Edges) {
  static const char *const Kinds[] = {"part", "operand", "condition"};
  json::Array Result;
  for (const answers::SliceEdge &E : Edges) {
    json::Object Each{{"node", int64_t(E.Node)}, {"kind", Kinds[E.What]}};
    if (E.Read.Size)
      Each["read"] = toJSON(E.Read);
    Result.push_back(std::move(Each));
  }
  return Result;
}

json::Object toJSON(const variables::SliceAnswer &A) {
  json::Array Nodes, Lines;
  for (const variables::SliceNodeAnswer &N : A.Nodes) {
    json::Object Each =
        toJSON(static_cast<const variables::OriginStepAnswer &>(N));
    Each.erase("next");
    Each.erase("part-offset");
    Each["from"] = toJSON(N.From);
    Each["depth"] = N.Depth;
    Each["cut"] = N.Cut;
    Nodes.push_back(std::move(Each));
  }
  for (const variables::SliceLine &L : A.Lines)
    Lines.push_back(json::Object{{"file", jsonText(L.File)},
                                 {"line", L.Line},
                                 {"function", jsonText(L.Function)},
                                 {"count", L.Count},
                                 {"first", L.First},
                                 {"last", L.Last}});
  return json::Object{{"nodes", std::move(Nodes)},
                      {"roots", toJSON(A.Roots)},
                      {"lines", std::move(Lines)},
                      {"complete", A.Complete}};
}

static Expected<json::Value> why(JsonQuery &Q) {
  constexpr uint64_t Longest = 64;
  const Timestamp At = Q.Arguments.time("at");
  const bool Slice = Q.Arguments.flag("slice", false);
  const uint64_t Depth =
      Slice ? Q.Arguments.number("depth", 10, 0, 1000000) : 0;
  const uint64_t Limit = Q.Arguments.number("limit", 1000, 1, 1000000);
  answers::ValuePlace Place;
  if (Q.Arguments.has("register")) {
    Expected<registers::Register> R = registerArgument(Q);
    if (!R)
      return R.takeError();
    if (R->Flags)
      return queryError("bad-argument",
                        "the flags are not one value: ask why of the registers "
                        "that the instruction before compared");
    const uint32_t Thread = threadArgument(Q);
    if (Error E = Q.Arguments.finish())
      return E;
    Place = {false, R->Bytes.Offset, R->Bytes.Size, Thread};
    if (Error E = questions::liveThread(Q.T, Thread, At).moveInto(Place.Thread))
      return E;
  } else {
    Expected<answers::AddressRange> Range =
        memoryArgument(Q, Longest, {0, At}, At);
    if (!Range)
      return Range.takeError();
    Place = {true, Range->First, uint32_t(Range->Last - Range->First + 1), 0};
  }
  origins::ValueEngine Engine(Q.T.reader());
  if (Slice) {
    Expected<variables::SliceAnswer> Answer = variables::sliceOf(
        Q.T, Engine, Place, At, {uint32_t(Depth), Limit}, Q.Cancel);
    if (!Answer)
      return Answer.takeError();
    return toJSON(*Answer);
  }
  Expected<variables::OriginAnswer> Answer =
      variables::whyValue(Q.T, Engine, Place, At, Limit, Q.Cancel);
  if (!Answer)
    return Answer.takeError();
  return toJSON(*Answer);
}

ArrayRef<JsonCommand> jsonValueCommands() {
  static const JsonCommand Table[] = {{"why", false, why}};
  return Table;
}

} // namespace chronicle::jsonapi
