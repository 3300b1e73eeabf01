// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/answers/SystemCalls.h"
#include "query/json/JsonAnswers.h"
#include "query/questions/EventQuestions.h"
#include "trace-format/events/EventNames.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::jsonapi {

static StringRef memorySource(uint32_t Source) {
  switch (Source) {
  case CH_MEM_STARTUP:
    return "startup";
  case CH_MEM_MAPPED:
    return "mapping";
  case CH_MEM_SYSCALL:
    return "system-call";
  case CH_MEM_SIGNAL:
    return "signal";
  case CH_MEM_THREAD:
    return "thread";
  case CH_MEM_CORE:
    return "core";
  }
  return "unknown";
}

static void addResult(json::Object &O, int64_t Result) {
  O["result"] = Result;
  if (StringRef Name = answers::systemCallError(Result); !Name.empty())
    O["error"] = Name.str();
}

json::Object toJSON(const questions::SystemCall &C) {
  StringRef Name = answers::systemCallName(C.Number);
  json::Object O{
      {"number", C.Number},
      {"name", Name.empty() ? std::to_string(C.Number) : Name.str()}};
  if (C.Arguments) {
    json::Array Arguments;
    for (uint64_t A : *C.Arguments)
      Arguments.push_back(hexNumber(A));
    O["arguments"] = std::move(Arguments);
  }
  if (C.Result)
    addResult(O, *C.Result);
  if (!C.Text.empty())
    O["text"] = jsonText(C.Text);
  return O;
}

json::Object toJSON(const questions::SystemCallAnswer &C) {
  json::Object O = toJSON(C.Call);
  O["time"] = jsonOptional(C.Call.Entered);
  O["thread"] = C.Call.Thread;
  if (C.Call.Returned)
    O["returned"] = *C.Call.Returned;
  O["pc"] = hexNumber(C.Where.Pc);
  O["symbol"] = toJSON(C.Where);
  if (C.Caller)
    O["caller"] = toJSON(C.Caller);
  return O;
}

// ---- the members of each type of event, besides time, kind and thread ----

static void addMembers(json::Object &O, const events::FaultEvent &E) {
  O["pc"] = hexNumber(E.rip);
}

static void addMembers(json::Object &O, const events::MemoryEvent &E) {
  O["address"] = hexNumber(E.address);
  O["length"] = E.length;
  O["source"] = memorySource(E.source).str();
}

static void addAll(json::Object &O, json::Object Members) {
  for (auto &[Key, Value] : Members)
    O[Key] = std::move(Value);
}

static void addMembers(json::Object &O, const events::MapEvent &E) {
  answers::Mapping M;
  M.Address = E.address;
  M.Length = E.length;
  M.Offset = E.offset;
  M.Protection = E.protection;
  M.Flags = E.flags;
  M.Path = E.path().str();
  addAll(O, toJSON(M));
}

static void addMembers(json::Object &O, const events::UnmapEvent &E) {
  O["address"] = hexNumber(E.address);
  O["length"] = E.length;
}

static void addMembers(json::Object &O, const events::ProtectEvent &E) {
  O["address"] = hexNumber(E.address);
  O["length"] = E.length;
  O["protection"] = protectionText(E.protection);
}

static void addMembers(json::Object &O, const events::SyscallEnterEvent &E) {
  questions::SystemCall Call;
  Call.Number = E.number;
  Call.Arguments = std::to_array(E.arguments);
  addAll(O, toJSON(Call));
}

static void addMembers(json::Object &O, const events::SyscallExitEvent &E) {
  questions::SystemCall Call;
  Call.Number = E.number;
  Call.Result = E.result;
  addAll(O, toJSON(Call));
}

static void addMembers(json::Object &O, const events::SignalEvent &E) {
  O["number"] = E.number;
  O["name"] = answers::signalName(E.number);
  O["code"] = static_cast<int32_t>(E.code);
  O["fatal"] = (E.flags & CH_SIG_FATAL) != 0;
  O["alternate-stack"] = (E.flags & CH_SIG_ALT_STACK) != 0;
  O["synchronous"] = (E.flags & CH_SIG_SYNCHRONOUS) != 0;
  if (E.flags & CH_SIG_SYNCHRONOUS)
    O["address"] = hexNumber(E.address);
  else
    O["sender"] = E.sender;
}

static void addMembers(json::Object &O, const events::ThreadStartEvent &E) {
  O["parent"] = E.parent;
  O["os-thread"] = E.os_thread;
}

static void addMembers(json::Object &O, const events::OutputEvent &E) {
  O["descriptor"] = E.descriptor;
  O["text"] = jsonText(E.text());
  if (!json::isUTF8(E.text()))
    O["bytes"] = jsonBytes(E.bytes());
}

static void addMembers(json::Object &O, const events::OutsideWriteEvent &E) {
  O["address"] = hexNumber(E.address);
  O["length"] = E.length;
  O["found-by"] = E.found_by == CH_FOUND_BY_LOAD ? "load" : "audit";
}

static void addMembers(json::Object &O, const events::LogLoadsEvent &E) {
  O["reason"] = E.reason == CH_LOADS_ASKED           ? "asked"
                : E.reason == CH_LOADS_SHARED_MEMORY ? "shared-memory"
                : E.reason == CH_LOADS_WATCHED       ? "shared-mappings"
                                                     : "unreported-write";
}

static void addMembers(json::Object &O, const events::EndEvent &E) {
  O["reason"] = events::endReasonName(E.reason).str();
  O["code"] = E.code;
}

template <class... Types>
static void addMembersOf(json::Object &O, const answers::TimedEvent &Event) {
  auto Try = [&](const auto &Typed) {
    if (Typed)
      addMembers(O, *Typed);
  };
  (Try(Event.as<Types>()), ...);
}

json::Object toJSON(const answers::TimedEvent &E) {
  using namespace events;
  json::Object O{{"time", E.Time}, {"event", eventKindName(E.Kind).str()}};
  if (std::optional<uint32_t> Thread = questions::threadOf(E))
    O["thread"] = *Thread;
  addMembersOf<FaultEvent, MemoryEvent, MapEvent, UnmapEvent, ProtectEvent,
               SyscallEnterEvent, SyscallExitEvent, SignalEvent,
               ThreadStartEvent, OutputEvent, OutsideWriteEvent, LogLoadsEvent,
               EndEvent>(O, E);
  return O;
}

json::Object toJSON(const questions::OutputMatch &M) {
  json::Array Writes;
  for (const questions::OutputPiece &P : M.Writes)
    Writes.push_back(json::Object{
        {"time", P.Time}, {"thread", P.Thread}, {"text", jsonText(P.Bytes)}});
  return json::Object{{"time", M.Time},
                      {"descriptor", M.Descriptor},
                      {"offset", M.Offset},
                      {"writes", std::move(Writes)}};
}

} // namespace chronicle::jsonapi
