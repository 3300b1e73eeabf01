// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonAnswers.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::jsonapi {

std::string hexNumber(uint64_t N) {
  return "0x" + utohexstr(N, /*LowerCase=*/true);
}

json::Value jsonBytes(ArrayRef<uint8_t> Bytes) {
  return toHex(Bytes, /*LowerCase=*/true);
}

json::Value jsonText(StringRef Text) { return shownText(Text); }

// ---- code ----

static json::Object jsonFrame(const symbols::SourceFrame &F) {
  json::Object Result;
  if (!F.Function.empty())
    Result["function"] = jsonText(F.Function);
  if (!F.LinkageName.empty() && F.LinkageName != F.Function)
    Result["linkage-name"] = jsonText(F.LinkageName);
  if (!F.File.empty()) {
    Result["file"] = jsonText(F.File);
    Result["line"] = F.Line;
    if (F.Column)
      Result["column"] = F.Column;
  }
  return Result;
}

json::Value toJSON(const questions::Place &P) {
  if (!P.Symbol)
    return nullptr;
  const symbols::CodeSymbol &S = *P.Symbol;
  // The innermost frame is the answer; the functions it was inlined into
  // follow.
  json::Object Result = jsonFrame(S.Frames.front());
  Result["module"] = jsonText(S.Module->Info.Path);
  if (S.FunctionAddress)
    Result["offset"] = P.Pc - S.FunctionAddress;
  if (S.Frames.size() > 1) {
    json::Array Outer;
    for (const symbols::SourceFrame &F : drop_begin(S.Frames))
      Outer.push_back(jsonFrame(F));
    Result["inlined-into"] = std::move(Outer);
  }
  return Result;
}

json::Value toJSON(const std::optional<questions::Place> &P) {
  if (!P)
    return nullptr;
  return json::Object{{"pc", hexNumber(P->Pc)}, {"symbol", toJSON(*P)}};
}

json::Object toJSON(const questions::ExecutionAnswer &X) {
  return json::Object{{"time", X.Execution.Time},
                      {"thread", X.Execution.Thread},
                      {"pc", hexNumber(X.Execution.Pc)},
                      {"symbol", toJSON(X.Where)}};
}

json::Object toJSON(const symbols::SymbolAt &S) {
  json::Object Result{{"name", jsonText(S.Name)},
                      {"size", S.Size},
                      {"module", jsonText(S.Module->Info.Path)},
                      {"loaded", S.Module->Loaded}};
  if (S.LinkageName != S.Name)
    Result["linkage-name"] = jsonText(S.LinkageName);
  if (S.ThreadLocal)
    Result["thread-local-offset"] = S.Address;
  else
    Result["address"] = hexNumber(S.Address);
  if (S.Indirect)
    Result["indirect"] = true;
  if (S.Module->Unloaded != ~Timestamp(0))
    Result["unloaded"] = S.Module->Unloaded;
  return Result;
}

// ---- writes ----

StringRef writerName(answers::Writer By) {
  switch (By) {
  case answers::Writer::Instruction:
    return "instruction";
  case answers::Writer::SystemCall:
    return "system-call";
  case answers::Writer::Signal:
    return "signal";
  case answers::Writer::Mapping:
    return "mapping";
  case answers::Writer::Thread:
    return "thread";
  case answers::Writer::Core:
    return "core";
  case answers::Writer::Outside:
    return "outside";
  }
  llvm_unreachable("no such writer");
}

json::Object toJSON(const questions::WriteAnswer &Answer) {
  const answers::Write &W = Answer.Write;
  json::Object Result{{"time", W.Time},
                      {"by", writerName(W.By).str()},
                      {"thread", W.Thread},
                      {"pc", hexNumber(W.Pc)},
                      {"address", hexNumber(W.Address)},
                      {"size", int64_t(W.New.size())}};
  if (Answer.Count > 1) {
    Result["count"] = Answer.Count;
    Result["last-time"] = Answer.Last;
  }
  ArrayRef<uint8_t> Old = W.Old, New = W.New;
  // Of a large write only the bytes that were asked for.
  constexpr size_t WholeUpTo = 256;
  if (New.size() > WholeUpTo) {
    uint64_t First = std::max(Answer.Asked.First, W.Address) - W.Address;
    uint64_t Last =
        std::min<uint64_t>(Answer.Asked.Last - W.Address, New.size() - 1);
    New = New.slice(First, Last - First + 1);
    if (Old.size() > Last)
      Old = Old.slice(First, Last - First + 1);
    Result["bytes-address"] = hexNumber(W.Address + First);
  }
  Result["old"] = Answer.HasOld ? jsonBytes(Old) : json::Value(nullptr);
  Result["new"] = Answer.HasNew ? jsonBytes(New) : json::Value(nullptr);
  if (Answer.MappedFrom)
    Result["mapped-from"] = toJSON(*Answer.MappedFrom);
  Result["symbol"] = toJSON(Answer.Where);
  if (Answer.Caller)
    Result["caller"] = toJSON(Answer.Caller);
  if (Answer.Call) {
    json::Object Call = toJSON(*Answer.Call);
    if (Answer.Call->Entered)
      Call["entered"] = *Answer.Call->Entered;
    Result["system-call"] = std::move(Call);
  }
  return Result;
}

// ---- calls ----

json::Object toJSON(const questions::FrameAnswer &F) {
  const answers::Activation &A = F.Activation;
  json::Object Result{{"thread", A.Thread},
                      {"entry", A.Entry},
                      {"callee", hexNumber(A.Callee)},
                      {"call-site", A.CallSite
                                        ? json::Value(hexNumber(A.CallSite))
                                        : json::Value(nullptr)},
                      {"stack-pointer", hexNumber(A.StackPointer)},
                      {"signal", A.Signal},
                      {"symbol", toJSON(F.Where)}};
  // 0 is an address that a jump may lead to.
  if (A.Pc || A.Jumped || A.CallSite)
    Result["pc"] = hexNumber(A.Pc);
  if (A.Jumped)
    Result["jumped"] = *A.Jumped;
  return Result;
}

static void addEnd(json::Object &Call, const questions::CallEnd &End) {
  Call["return"] = jsonOptional(End.returned());
  Call["value"] =
      End.Value ? json::Value(hexNumber(*End.Value)) : json::Value(nullptr);
  Call["left"] = jsonOptional(End.Time);
  Call["left-by"] = questions::nameOf(End.How);
}

json::Object toJSON(const questions::ReturnAnswer &R) {
  json::Object Result = toJSON(R.Call);
  addEnd(Result, R.End);
  return Result;
}

json::Object toJSON(const questions::CallAnswer &C) {
  json::Object Arguments;
  if (!C.Inlined)
    for (auto [Name, Value] :
         zip_equal(questions::CallAnswer::ArgumentNames, C.Arguments))
      Arguments[Name] = hexNumber(Value);
  json::Object Result{
      {"entry", C.Entry},
      {"return", nullptr},
      {"thread", C.Thread},
      {"function", hexNumber(C.Function.Pc)},
      {"symbol", toJSON(C.Function)},
      {"arguments", std::move(Arguments)},
      {"value", nullptr},
      {"depth", int64_t(C.Depth)},
      {"tail-call", C.TailCall},
      {"inlined", C.Inlined},
      {"caller", toJSON(C.Caller)},
  };
  if (C.Outside)
    Result["outside"] = toJSON(C.Outside);
  if (C.End)
    addEnd(Result, *C.End);
  return Result;
}

// ---- searches ----

json::Object toJSON(const questions::SearchEnd &End) {
  return json::Object{{"count", End.Count}, {"more", End.More}};
}

Expected<json::Value> toJSON(Expected<questions::SearchEnd> End) {
  if (!End)
    return End.takeError();
  return toJSON(*End);
}

} // namespace chronicle::jsonapi
