// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/CallReader.h"
#include "lldb-plugin/values/ReturnedValue.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/json/JsonAnswers.h"
#include "query/symbols/Symbols.h"

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

/// The size of the function's prologue in bytes. Unlike LLDB this also finds it
/// if the whole function is on one line of source.
static uint64_t prologueOf(lldb::SBFunction F) {
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

Expected<CallReader> CallReader::make(target::LoadedTrace &Loaded) {
  Expected<target::Scout *> There = target::Scout::of(Loaded);
  if (!There)
    return There.takeError();
  return CallReader(Loaded.trace(), **There);
}

bool CallReader::Function::knownAtEntry(StringRef Name) const {
  return any_of(Facts.Parameters,
                [&](const symbols::FunctionFacts::Parameter &P) {
                  return P.KnownAtEntry && P.Name == Name;
                });
}

bool CallReader::Function::knowsAnyAtEntry() const {
  return any_of(Facts.Parameters,
                [](const symbols::FunctionFacts::Parameter &P) {
                  return P.KnownAtEntry;
                });
}

/// Whether some parameter can be read only after the prologue.
bool CallReader::Function::needsPrologue() const {
  return !all_of(Facts.Parameters,
                 [](const symbols::FunctionFacts::Parameter &P) {
                   return P.KnownAtEntry;
                 });
}

/// GCC gives this name to copies of a function whose parameters or result it
/// has changed, which debug info does not say.
static bool isChangedCopy(const std::optional<symbols::CodeSymbol> &Symbol) {
  return Symbol &&
         StringRef(Symbol->Frames.back().LinkageName).contains(".isra.");
}

Expected<const CallReader::Function *>
CallReader::function(const CallMoment &Call) {
  auto [It, New] = Functions.try_emplace(
      {T.symbols().moduleAt(Call.Function, Call.Entry), Call.Function});
  Function &Result = It->second;
  if (!New)
    return &Result;
  // To a moment at which its module is loaded.
  if (Error E = There.go(Call.Entry, Call.Thread))
    return E;
  lldb::SBTarget Target = There.target();
  lldb::SBFunction F = Target.ResolveLoadAddress(Call.Function).GetFunction();
  if (!F.IsValid() ||
      F.GetStartAddress().GetLoadAddress(Target) != Call.Function)
    return &Result;
  Result.Known = true;
  Result.Prologue = prologueOf(F);
  Result.Result = F.GetType().GetFunctionReturnType();
  if (std::optional<symbols::FunctionFacts> Facts =
          T.symbols().functionFacts(Call.Function, Call.Entry))
    Result.Facts = std::move(*Facts);
  Result.MayDropResult =
      Result.Facts.OwnConvention ||
      isChangedCopy(T.symbols().find(Call.Function, Call.Entry));
  return &Result;
}

/// Nothing: the call did not get there.
Expected<std::optional<Timestamp>>
CallReader::afterPrologue(const CallMoment &Call, const Function &F) {
  if (!F.Prologue)
    return Call.Entry;
  std::optional<Timestamp> Ready;
  uint64_t Pc = Call.Function + F.Prologue;
  if (Error E = T.executions(
          {Pc, Pc}, {Call.Entry, Call.Left.value_or(T.instructions())},
          Call.Thread, /*Backward=*/false, [&](const answers::Execution &X) {
            Ready = X.Time;
            return false;
          }))
    return E;
  if (!Ready)
    return std::nullopt;
  // It may be that only a call of the same function inside this one got there.
  Expected<std::vector<answers::Activation>> Before =
      T.callStack(Call.Thread, Call.Entry);
  if (!Before)
    return Before.takeError();
  Expected<std::vector<answers::Activation>> Then =
      T.callStack(Call.Thread, *Ready);
  if (!Then)
    return Then.takeError();
  if (Before->empty() || Before->size() != Then->size() ||
      Before->front().Entry != Then->front().Entry)
    return std::nullopt;
  return Ready;
}

Expected<Timestamp> CallReader::start(const CallMoment &Call) {
  if (Call.Inlined)
    return Call.Entry;
  Expected<const Function *> F = function(Call);
  if (!F)
    return F.takeError();
  Expected<std::optional<Timestamp>> Ready = afterPrologue(Call, **F);
  if (!Ready)
    return Ready.takeError();
  return Ready->value_or(Call.Entry);
}

Expected<lldb::SBFrame> CallReader::frameAt(const CallMoment &Call,
                                            Timestamp Time) {
  if (Error E = There.go(Time, Call.Thread))
    return E;
  lldb::SBThread Thread = There.thread();
  // Counted from the innermost frame: LLDB may leave out some of the functions
  // that it is inlined into.
  if (Call.Inlined)
    return Thread.GetFrameAtIndex(Call.InlinedInside);
  uint32_t Index = 0;
  while (Thread.GetFrameAtIndex(Index).IsInlined())
    ++Index;
  return Thread.GetFrameAtIndex(Index);
}

Expected<std::optional<lldb::SBFrame>>
CallReader::frame(const CallMoment &Call) {
  Timestamp Time = Call.Entry;
  if (!Call.Inlined) {
    Expected<const Function *> F = function(Call);
    if (!F)
      return F.takeError();
    if (!(*F)->Known)
      return std::nullopt;
    if ((*F)->needsPrologue()) {
      Expected<std::optional<Timestamp>> Ready = afterPrologue(Call, **F);
      if (!Ready)
        return Ready.takeError();
      if (!*Ready)
        return std::nullopt;
      Time = **Ready;
    }
  }
  Expected<lldb::SBFrame> Frame = frameAt(Call, Time);
  if (!Frame)
    return Frame.takeError();
  if (!Frame->IsValid())
    return std::nullopt;
  return *Frame;
}

static std::vector<Parameter> readParameters(lldb::SBFrame Frame) {
  std::vector<Parameter> Result;
  lldb::SBValueList List =
      Frame.GetVariables(/*arguments=*/true, /*locals=*/false,
                         /*statics=*/false, /*in_scope_only=*/true);
  for (uint32_t I = 0, N = List.GetSize(); I < N; ++I) {
    lldb::SBValue V = List.GetValueAtIndex(I);
    const char *Name = V.GetName(), *Type = V.GetTypeName();
    Result.push_back(
        {Name ? Name : "", Type ? Type : "", valueText(V), wholeNumber(V)});
  }
  return Result;
}

Expected<std::optional<std::vector<Parameter>>>
CallReader::parameters(const CallMoment &Call) {
  Expected<const Function *> F = Call.Inlined ? nullptr : function(Call);
  if (!F)
    return F.takeError();
  if (*F && !(*F)->Known)
    return std::nullopt;
  std::optional<Timestamp> Ready;
  if (*F && (*F)->needsPrologue()) {
    Expected<std::optional<Timestamp>> There = afterPrologue(Call, **F);
    if (!There)
      return There.takeError();
    Ready = *There;
  }
  std::vector<Parameter> Later;
  if (Ready) {
    Expected<lldb::SBFrame> Frame = frameAt(Call, *Ready);
    if (!Frame)
      return Frame.takeError();
    Later = readParameters(*Frame);
    if (!(*F)->knowsAnyAtEntry())
      return Later;
  }
  // In optimized code the parameters are best known at the first instruction.
  // Later their registers may have been used for something else.
  Expected<lldb::SBFrame> Frame = frameAt(Call, Call.Entry);
  if (!Frame)
    return Frame.takeError();
  if (!Frame->IsValid())
    return std::nullopt;
  std::vector<Parameter> Result = readParameters(*Frame);
  if (!*F || !(*F)->needsPrologue())
    return Result;
  // Both lists have the same parameters in the same order.
  for (size_t I = 0; I < Result.size(); ++I) {
    Parameter &P = Result[I];
    if (!P.Name.empty() && (*F)->knownAtEntry(P.Name))
      continue;
    if (Later.size() == Result.size()) {
      P = std::move(Later[I]);
    } else {
      P.Value = "<not set up yet>";
      P.Number.reset();
    }
  }
  return Result;
}

Expected<CallResult> CallReader::result(const CallMoment &Call) {
  CallResult Result;
  if (Call.Inlined || !Call.Return)
    return Result;
  Expected<const Function *> F = function(Call);
  if (!F)
    return F.takeError();
  lldb::SBType Type = (*F)->Result;
  if (!Type.IsValid() ||
      Type.GetCanonicalType().GetBasicType() == lldb::eBasicTypeVoid)
    return Result;
  Result.MayBeDropped = (*F)->MayDropResult;
  if (Result.MayBeDropped)
    return Result;
  Expected<std::string> Value =
      returnedValue(T, There, Type, (*F)->Facts.ResultInMemory, Call.Thread,
                    Call.Entry, *Call.Return);
  if (!Value)
    return Value.takeError();
  Result.Value = std::move(*Value);
  return Result;
}

} // namespace chronicle::values
