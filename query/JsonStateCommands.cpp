// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// info, registers, memory, map, modules, threads.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "query/JsonPlaces.h"
#include "trace-format/FileFormat.h"

using namespace llvm;

namespace chronicle {

static Expected<json::Value> info(JsonQuery &Q) {
  if (Error E = Q.Arguments.finish())
    return E;
  const TraceReader &R = Q.T.reader();
  json::Array Warnings;
  for (const std::string &W : Q.T.symbols().warnings())
    Warnings.push_back(jsonText(W));
  return json::Object{{"path", jsonText(R.path())},
                      {"instructions", R.instructions()},
                      {"executions", R.executions()},
                      {"blocks", int64_t(R.blocks().size())},
                      {"superblocks", int64_t(R.superblockCount()) - 1},
                      {"file-size", R.fileSize()},
                      {"format-version", FormatVersion},
                      {"truncated", R.truncated().empty()
                                        ? json::Value(nullptr)
                                        : jsonText(R.truncated())},
                      {"warnings", std::move(Warnings)},
                      {"run", json::Object(R.run())},
                      {"end", R.end() ? json::Value(json::Object(*R.end()))
                                      : json::Value(nullptr)}};
}

static Expected<json::Value> registers(JsonQuery &Q) {
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<Registers> R = Q.T.registers(M->Thread, M->At);
  if (!R)
    return R.takeError();
  return json::Object{{"at", M->At},
                      {"thread", M->Thread},
                      {"registers", jsonRegisters(*R)},
                      {"symbol", jsonSymbol(Q.T, R->rip(), M->At)}};
}

static Expected<json::Value> memory(JsonQuery &Q) {
  constexpr uint64_t MaxLength = 16 << 20;
  Timestamp At = Q.Arguments.time("at");
  Expected<AddressRange> Range = memoryArgument(Q, MaxLength, {At, At}, At);
  if (!Range)
    return Range.takeError();
  uint64_t Length = Range->Last - Range->First + 1;
  Expected<MemoryContents> Contents = Q.T.memory(Range->First, Length, At);
  if (!Contents)
    return Contents.takeError();
  json::Array Unmapped;
  uint64_t Reached = 0;
  auto Gap = [&](uint64_t UpTo) {
    if (Reached < UpTo)
      Unmapped.push_back(
          json::Object{{"address", hexNumber(Range->First + Reached)},
                       {"length", UpTo - Reached}});
  };
  for (auto [First, Last] : Contents->Mapped) {
    Gap(First);
    Reached = Last;
  }
  Gap(Length);
  return json::Object{{"at", At},
                      {"address", hexNumber(Range->First)},
                      {"length", Length},
                      {"bytes", jsonBytes(Contents->Bytes)},
                      {"unmapped", std::move(Unmapped)}};
}

static Expected<json::Value> map(JsonQuery &Q) {
  Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  if (Error E = Q.Arguments.finish())
    return E;
  Expected<std::vector<Mapping>> Map = Q.T.map(At);
  if (!Map)
    return Map.takeError();
  json::Array Mappings;
  for (const Mapping &M : *Map)
    Mappings.push_back(jsonMapping(M));
  return json::Object{{"at", At}, {"mappings", std::move(Mappings)}};
}

static Expected<json::Value> modules(JsonQuery &Q) {
  bool All = !Q.Arguments.has("at");
  Timestamp At = Q.Arguments.time("at", 0);
  if (Error E = Q.Arguments.finish())
    return E;
  json::Array Modules;
  for (const ModuleLoad &L : Q.T.symbols().modules())
    if (All || (At >= L.Loaded && At < L.Unloaded))
      Modules.push_back(jsonModule(L));
  return json::Object{{"modules", std::move(Modules)}};
}

static Expected<json::Value> threads(JsonQuery &Q) {
  Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  if (Error E = Q.Arguments.finish())
    return E;
  Expected<std::vector<ThreadInfo>> Threads = Q.T.threads(At);
  if (!Threads)
    return Threads.takeError();
  json::Array List;
  for (const ThreadInfo &I : *Threads)
    List.push_back(jsonThread(I));
  return json::Object{{"at", At}, {"threads", std::move(List)}};
}

ArrayRef<JsonCommand> jsonStateCommands() {
  static const JsonCommand Table[] = {
      {"info", false, info},       {"registers", false, registers},
      {"memory", false, memory},   {"map", false, map},
      {"modules", false, modules}, {"threads", false, threads},
  };
  return Table;
}

} // namespace chronicle
