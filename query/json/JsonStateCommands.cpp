// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// info, registers, memory, map, modules, threads.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"

using namespace llvm;

namespace chronicle::jsonapi {

static Expected<json::Value> info(JsonQuery &Q) {
  if (Error E = Q.Arguments.finish())
    return E;
  return toJSON(Q.T);
}

static Expected<json::Value> registers(JsonQuery &Q) {
  Expected<ThreadMoment> M = threadMomentArgument(Q);
  if (!M)
    return M.takeError();
  Expected<answers::Registers> R = Q.T.registers(M->Thread, M->At);
  if (!R)
    return R.takeError();
  return json::Object{
      {"at", M->At},
      {"thread", M->Thread},
      {"registers", toJSON(*R)},
      {"symbol", toJSON(questions::placeAt(Q.T, R->rip(), M->At))}};
}

static Expected<json::Value> memory(JsonQuery &Q) {
  constexpr uint64_t MaxLength = 16 << 20;
  Timestamp At = Q.Arguments.time("at");
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxLength, {At, At}, At);
  if (!Range)
    return Range.takeError();
  uint64_t Length = Range->Last - Range->First + 1;
  Expected<answers::MemoryContents> Contents =
      Q.T.memory(Range->First, Length, At);
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
  Expected<std::vector<answers::Mapping>> Map = Q.T.map(At);
  if (!Map)
    return Map.takeError();
  json::Array Mappings;
  for (const answers::Mapping &M : *Map)
    Mappings.push_back(toJSON(M));
  return json::Object{{"at", At}, {"mappings", std::move(Mappings)}};
}

static Expected<json::Value> modules(JsonQuery &Q) {
  bool All = !Q.Arguments.has("at");
  Timestamp At = Q.Arguments.time("at", 0);
  if (Error E = Q.Arguments.finish())
    return E;
  json::Array Modules;
  for (const state::ModuleLoad &L : Q.T.symbols().modules())
    if (All || L.isThere(At))
      Modules.push_back(toJSON(L));
  return json::Object{{"modules", std::move(Modules)}};
}

static Expected<json::Value> threads(JsonQuery &Q) {
  Timestamp At = Q.Arguments.time("at", Q.T.instructions());
  if (Error E = Q.Arguments.finish())
    return E;
  Expected<std::vector<answers::ThreadInfo>> Threads = Q.T.threads(At);
  if (!Threads)
    return Threads.takeError();
  json::Array List;
  for (const answers::ThreadInfo &I : *Threads)
    List.push_back(toJSON(I));
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

} // namespace chronicle::jsonapi
