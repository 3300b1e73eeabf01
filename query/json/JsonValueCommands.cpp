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
  registers::ValueEngine Engine(Q.T.reader());
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
  registers::ValueEngine Engine(Q.T.reader());
  return toJSON(variables::searchRegisterWrites(
      Q.T, Engine, *R, Options,
      [&](const variables::RegisterWriteAnswer &W) {
        return Q.Emit(toJSON(W));
      },
      Q.Cancel));
}

} // namespace chronicle::jsonapi
