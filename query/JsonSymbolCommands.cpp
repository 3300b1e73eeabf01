// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// symbol, function, global, line.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "query/Symbols.h"

using namespace llvm;

namespace chronicle {

/// Answers to do with names say which files could not be used: an empty list
/// must not look like the whole truth.
static void addWarnings(JsonQuery &Q, json::Object &Result) {
  json::Array Warnings;
  for (const std::string &W : Q.T.symbols().warnings())
    Warnings.push_back(jsonText(W));
  if (!Warnings.empty())
    Result["warnings"] = std::move(Warnings);
}

static Expected<json::Value> symbol(JsonQuery &Q) {
  uint64_t Pc = Q.Arguments.number("pc");
  Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  if (Error E = Q.Arguments.finish())
    return E;
  json::Object Result{
      {"at", At}, {"pc", hexNumber(Pc)}, {"symbol", jsonSymbol(Q.T, Pc, At)}};
  if (std::optional<SymbolAt> S = Q.T.symbols().findGlobal(Pc, At)) {
    json::Object Global = jsonFoundSymbol(*S);
    Global["offset"] = Pc - S->Address;
    Result["global"] = std::move(Global);
  }
  addWarnings(Q, Result);
  return Result;
}

static Expected<json::Value> function(JsonQuery &Q) {
  std::vector<SymbolAt> Found;
  if (Q.Arguments.has("pattern")) {
    std::string Pattern = Q.Arguments.text("pattern");
    if (Error E = Q.Arguments.finish())
      return E;
    Expected<std::vector<SymbolAt>> Matching =
        Q.T.symbols().functionsMatching(Pattern);
    if (!Matching)
      return queryError("bad-argument", "'pattern' is no pattern: " +
                                            toString(Matching.takeError()));
    Found = std::move(*Matching);
  } else {
    std::string Name = Q.Arguments.text("name");
    if (Error E = Q.Arguments.finish())
      return E;
    Found = Q.T.symbols().functions(Name);
  }
  json::Array Functions;
  for (const SymbolAt &S : Found) {
    json::Object O = jsonFoundSymbol(S);
    if (std::optional<CodeSymbol> C =
            Q.T.symbols().find(S.Address, S.Module->Loaded)) {
      // The entry may be inlined code already: the function itself is last.
      const SourceFrame &F = C->Frames.back();
      if (!F.File.empty()) {
        O["file"] = jsonText(F.File);
        O["line"] = F.Line;
      }
    }
    Functions.push_back(std::move(O));
    if (Q.Cancel.Cancelled)
      break;
  }
  json::Object Result{{"functions", std::move(Functions)}};
  addWarnings(Q, Result);
  return Result;
}

static Expected<json::Value> global(JsonQuery &Q) {
  std::string Name = Q.Arguments.text("name");
  if (Error E = Q.Arguments.finish())
    return E;
  json::Array Globals;
  for (const SymbolAt &S : Q.T.symbols().globals(Name))
    Globals.push_back(jsonFoundSymbol(S));
  json::Object Result{{"globals", std::move(Globals)}};
  addWarnings(Q, Result);
  return Result;
}

static Expected<json::Value> line(JsonQuery &Q) {
  std::string File = Q.Arguments.text("file");
  uint64_t Line = Q.Arguments.number("line");
  if (Line == 0 || Line > UINT32_MAX)
    Q.Arguments.fail("bad-argument", "'line' must be from 1 to 2^32 - 1");
  if (Error E = Q.Arguments.finish())
    return E;
  json::Array Code;
  for (const LineAt &L : Q.T.symbols().lines(File, static_cast<uint32_t>(Line)))
    Code.push_back(json::Object{{"address", hexNumber(L.Code.Address)},
                                {"size", L.Code.Size},
                                {"file", jsonText(L.Code.File)},
                                {"line", L.Code.Line},
                                {"module", jsonText(L.Module->Info.Path)},
                                {"loaded", L.Module->Loaded}});
  json::Object Result{{"code", std::move(Code)}};
  addWarnings(Q, Result);
  return Result;
}

ArrayRef<JsonCommand> jsonSymbolCommands() {
  static const JsonCommand Table[] = {
      {"symbol", false, symbol},
      {"function", false, function},
      {"global", false, global},
      {"line", false, line},
  };
  return Table;
}

} // namespace chronicle
