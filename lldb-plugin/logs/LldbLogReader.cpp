// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/logs/LldbLogReader.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/expressions/EvaluationError.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle::logs {

using expressions::CodeMoment;
using expressions::LoggedValue;
using expressions::Outcome;
using expressions::Question;

bool LldbLogReader::hasOwnFormat(const std::string &Type) {
  auto [It, New] = OwnFormats.try_emplace(Type, false);
  if (!New)
    return It->second;
  lldb::SBDebugger Debugger = There.target().GetDebugger();
  lldb::SBTypeNameSpecifier Name(Type.c_str());
  It->second = Debugger.GetFormatForType(Name).IsValid() ||
               Debugger.GetSummaryForType(Name).IsValid();
  return It->second;
}

std::optional<std::string>
LldbLogReader::textOf(const expressions::Value &V,
                      expressions::StateReader &State) {
  if (V.Of->What != expressions::Type::Kind::Float)
    return lldbText(V, State);
  uint8_t Bytes[sizeof(uint64_t)];
  support::endian::write64le(Bytes, V.Bits);
  lldb::SBTarget Target = There.target();
  const lldb::SBType Type =
      Target.GetBasicType(V.Of->Size == sizeof(float) ? lldb::eBasicTypeFloat
                                                      : lldb::eBasicTypeDouble);
  return values::valueText(
      values::valueOf(Target, ArrayRef<uint8_t>(Bytes, V.Of->Size), Type));
}

Expected<lldb::SBValue> LldbLogReader::ask(const Question &Q,
                                           const CodeMoment &At) {
  if (Error E = There.go(At.Time, At.Thread))
    return E;
  lldb::SBFrame Frame = There.thread().GetFrameAtIndex(At.Inside);
  const char *Text = Q.text().c_str();
  lldb::SBValue V = Frame.GetValueForVariablePath(Text);
  if (!V.IsValid() || V.GetError().Fail())
    V = Frame.EvaluateExpression(Text);
  return V;
}

std::optional<std::string>
LldbLogReader::misunderstood(StringRef Expression) const {
  if (Understood.count(Expression))
    return std::nullopt;
  for (const auto &[Where, Why] : Refused)
    if (Where.first == Expression)
      return Why;
  return std::nullopt;
}

Expected<LoggedValue> LldbLogReader::show(const Question &Q, const Outcome &O,
                                          const CodeMoment &At,
                                          expressions::StateReader &State) {
  LoggedValue Result;
  if (O.What == Outcome::Kind::NoValue) {
    Result.Text = O.Why;
    return Result;
  }
  if (O.What == Outcome::Kind::Value && !hasOwnFormat(O.Result.Of->Name))
    if (std::optional<std::string> Text = textOf(O.Result, State)) {
      Result.Known = true;
      Result.Text = std::move(*Text);
      Result.Type = O.Result.Of->Name;
      Understood.insert(Q.text());
      return Result;
    }
  auto Known = Refused.find({Q.text(), At.Pc});
  if (Known != Refused.end()) {
    Result.Text = Known->second;
    return Result;
  }
  Expected<lldb::SBValue> V = ask(Q, At);
  if (!V)
    return V.takeError();
  const lldb::SBError Failed = V->GetError();
  if (Failed.Fail()) {
    Result.Text = values::errorText(Failed);
    if (values::isCompiled(Failed))
      Understood.insert(Q.text());
    else
      Refused[{Q.text(), At.Pc}] = Result.Text;
    return Result;
  }
  Understood.insert(Q.text());
  Result.Known = true;
  Result.Text = values::valueText(*V);
  Result.Type = V->GetTypeName() ? V->GetTypeName() : "";
  return Result;
}

Expected<bool> LldbLogReader::holds(const Question &Q, const Outcome &O,
                                    const CodeMoment &At) {
  if (O.What == Outcome::Kind::NoValue)
    return expressions::noValue(O.Why);
  Expected<lldb::SBValue> V = ask(Q, At);
  if (!V)
    return V.takeError();
  if (V->GetError().Fail()) {
    const std::string Why = values::errorText(V->GetError());
    return values::isCompiled(V->GetError()) ? expressions::noValue(Why)
                                             : expressions::notSimple(Why);
  }
  lldb::SBError Failed;
  const bool Result = V->GetValueAsUnsigned(Failed) != 0;
  if (Failed.Fail())
    return expressions::notSimple("it is neither true nor false");
  return Result;
}

} // namespace chronicle::logs
