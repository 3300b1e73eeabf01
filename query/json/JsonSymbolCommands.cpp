// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// symbol, function, global, line.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"

using namespace llvm;

namespace chronicle::jsonapi {

/// Answers about names list the files that could not be used, so that an empty
/// list does not look like the whole truth.
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
  json::Object Result{{"at", At},
                      {"pc", hexNumber(Pc)},
                      {"symbol", toJSON(questions::placeAt(Q.T, Pc, At))}};
  if (std::optional<symbols::SymbolAt> S = Q.T.symbols().findGlobal(Pc, At)) {
    json::Object Global = toJSON(*S);
    Global["offset"] = Pc - S->Address;
    Result["global"] = std::move(Global);
  }
  addWarnings(Q, Result);
  return Result;
}

static Expected<json::Value> function(JsonQuery &Q) {
  std::vector<symbols::SymbolAt> Found;
  if (Q.Arguments.has("pattern")) {
    std::string Pattern = Q.Arguments.text("pattern");
    if (Error E = Q.Arguments.finish())
      return E;
    Expected<std::vector<symbols::SymbolAt>> Matching =
        Q.T.symbols().functionsMatching(Pattern);
    if (!Matching)
      return queryError("bad-argument",
                        "invalid 'pattern': " + toString(Matching.takeError()));
    Found = std::move(*Matching);
  } else {
    std::string Name = Q.Arguments.text("name");
    if (Error E = Q.Arguments.finish())
      return E;
    Found = Q.T.symbols().functions(Name);
  }
  json::Array Functions;
  for (const symbols::SymbolAt &S : Found) {
    json::Object O = toJSON(S);
    if (std::optional<symbols::CodeSymbol> C =
            Q.T.symbols().find(S.Address, S.Module->Loaded)) {
      // The entry may already be inlined code: the function itself is last.
      const symbols::SourceFrame &F = C->Frames.back();
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
  for (const symbols::SymbolAt &S : Q.T.symbols().globals(Name))
    Globals.push_back(toJSON(S));
  json::Object Result{{"globals", std::move(Globals)}};
  addWarnings(Q, Result);
  return Result;
}

static Expected<json::Value> line(JsonQuery &Q) {
  std::string File = Q.Arguments.text("file");
  uint32_t Line = lineArgument(Q);
  if (Error E = Q.Arguments.finish())
    return E;
  json::Array Code;
  for (const symbols::LineAt &L : Q.T.symbols().lines(File, Line))
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

} // namespace chronicle::jsonapi
