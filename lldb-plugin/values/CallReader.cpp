// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/CallReader.h"
#include "lldb-plugin/values/ReturnedValue.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/json/JsonAnswers.h"

using namespace llvm;

namespace chronicle::values {

json::Object toJSON(const Parameter &P) {
  return json::Object{{"name", jsonapi::jsonText(P.Name)},
                      {"type", jsonapi::jsonText(P.Type)},
                      {"value", jsonapi::jsonText(P.Value)}};
}

std::string parametersText(ArrayRef<Parameter> Parameters) {
  std::string Text;
  for (const Parameter &P : Parameters)
    Text += (Text.empty() ? "" : ", ") + P.Name + (P.Name.empty() ? "" : "=") +
            P.Value;
  return Text;
}

uint64_t prologueOf(lldb::SBFunction F) {
  if (uint64_t Size = F.GetPrologueByteSize())
    return Size;
  // The first row of the line table is the prologue.
  lldb::SBLineEntry First = F.GetStartAddress().GetLineEntry();
  if (!First.IsValid())
    return 0;
  uint64_t Start = F.GetStartAddress().GetFileAddress();
  uint64_t End = First.GetEndAddress().GetFileAddress();
  return End > Start && End < F.GetEndAddress().GetFileAddress() ? End - Start
                                                                 : 0;
}

Expected<std::optional<Timestamp>> afterPrologue(const query::Trace &T,
                                                 const CallMoment &Call,
                                                 uint64_t Prologue) {
  if (!Prologue)
    return Call.Entry;
  std::optional<Timestamp> Ready;
  uint64_t Pc = Call.Function + Prologue;
  if (Error E = T.executions(
          {Pc, Pc}, {Call.Entry, Call.Left.value_or(T.instructions())},
          Call.Thread, /*Backward=*/false, [&](const answers::Execution &X) {
            Ready = X.Time;
            return false;
          }))
    return E;
  return Ready;
}

Expected<CallReader> CallReader::make(target::LoadedTrace &Loaded) {
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  return CallReader(Loaded.trace(), **There);
}

Expected<CallReader::Function *> CallReader::function(const CallMoment &Call) {
  auto [It, New] = Functions.try_emplace(Call.Function);
  if (!New)
    return &It->second;
  // To a moment at which its module is loaded.
  if (Error E = There.go(Call.Entry, Call.Thread))
    return E;
  lldb::SBTarget Target = There.target();
  lldb::SBFunction F = Target.ResolveLoadAddress(Call.Function).GetFunction();
  if (F.IsValid() &&
      F.GetStartAddress().GetLoadAddress(Target) == Call.Function) {
    It->second.Known = true;
    It->second.Prologue = prologueOf(F);
    It->second.Result = F.GetType().GetFunctionReturnType();
  }
  return &It->second;
}

Expected<std::optional<lldb::SBFrame>>
CallReader::enter(const CallMoment &Call) {
  Expected<Function *> F = function(Call);
  if (!F)
    return F.takeError();
  if (!(*F)->Known)
    return std::nullopt;
  Expected<std::optional<Timestamp>> Ready =
      afterPrologue(T, Call, (*F)->Prologue);
  if (!Ready)
    return Ready.takeError();
  if (!*Ready)
    return std::nullopt;
  if (Error E = There.go(**Ready, Call.Thread))
    return E;
  lldb::SBThread Thread = There.thread();
  // Not by the number of frames: LLDB would look for all of them.
  for (uint32_t I = 0;; ++I) {
    lldb::SBFrame Frame = Thread.GetFrameAtIndex(I);
    if (!Frame.IsValid())
      return std::nullopt;
    if (!Frame.IsInlined())
      return Frame;
  }
}

std::vector<Parameter> CallReader::parameters(lldb::SBFrame Frame) {
  std::vector<Parameter> Result;
  lldb::SBValueList List =
      Frame.GetVariables(/*arguments=*/true, /*locals=*/false,
                         /*statics=*/false, /*in_scope_only=*/true);
  for (uint32_t I = 0, N = List.GetSize(); I < N; ++I) {
    lldb::SBValue V = List.GetValueAtIndex(I);
    const char *Name = V.GetName(), *Type = V.GetTypeName();
    Result.push_back({Name ? Name : "", Type ? Type : "", valueText(V)});
  }
  return Result;
}

Expected<std::string> CallReader::result(const CallMoment &Call) {
  Expected<Function *> F = function(Call);
  if (!F)
    return F.takeError();
  lldb::SBType Type = (*F)->Result;
  if (!Type.IsValid() || !Call.Return)
    return "";
  return returnedValue(T, There, Type, Call.Thread, Call.Entry, *Call.Return);
}

} // namespace chronicle::values
