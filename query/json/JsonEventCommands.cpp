// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// events, system-calls, output.

#include "query/answers/SystemCalls.h"
#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"
#include "query/questions/EventQuestions.h"
#include "trace-format/events/EventNames.h"

using namespace llvm;

namespace chronicle::jsonapi {

using questions::eventBit;

/// Without "kinds": the events that tell what the program did. The others only
/// serve replay.
static constexpr uint64_t DefaultKinds =
    questions::SystemCallEvents | questions::SignalEvents |
    questions::ThreadEvents | questions::MapEvents | eventBit(CH_EV_RESUME) |
    eventBit(CH_EV_OUTPUT) | eventBit(CH_EV_OUTSIDE_WRITE) |
    eventBit(CH_EV_LOG_LOADS) | eventBit(CH_EV_END);

/// 0: there is no such kind or group of kinds.
static uint64_t kindsNamed(StringRef Name) {
  static const std::pair<const char *, uint64_t> Groups[] = {
      {"system-calls", questions::SystemCallEvents},
      {"signals", questions::SignalEvents},
      {"threads", questions::ThreadEvents},
      {"switches", eventBit(CH_EV_RESUME)},
      {"maps", questions::MapEvents},
  };
  for (auto [Group, Kinds] : Groups)
    if (Name == Group)
      return Kinds;
  for (uint32_t Kind = CH_EV_SNAPSHOT; Kind < events::EventKindCount; ++Kind)
    if (Kind != CH_EV_AUDIT && Name == events::eventKindName(Kind))
      return eventBit(Kind);
  return 0;
}

static uint64_t kindsArgument(JsonQuery &Q) {
  if (!Q.Arguments.has("kinds"))
    return DefaultKinds;
  uint64_t Kinds = 0;
  for (const std::string &Name : Q.Arguments.texts("kinds")) {
    uint64_t Some = kindsNamed(Name);
    if (!Some)
      Q.Arguments.fail("bad-argument",
                       "unknown event kind '" + Name +
                           "'; some kinds are: system-calls, signals, "
                           "threads, switches, maps, output");
    Kinds |= Some;
  }
  return Kinds;
}

static Expected<json::Value> events(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  uint64_t Kinds = kindsArgument(Q);
  if (Error E = Q.Arguments.finish())
    return E;
  return toJSON(questions::searchEvents(
      Q.T, Kinds, Options,
      [&](const answers::TimedEvent &Event) { return Q.Emit(toJSON(Event)); },
      Q.Cancel));
}

static Expected<json::Value> systemCalls(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  Options.Thread = threadArgument(Q);
  std::vector<uint32_t> Numbers;
  if (Q.Arguments.has("names"))
    for (const std::string &Name : Q.Arguments.texts("names")) {
      std::optional<uint32_t> Number = answers::systemCallNumber(Name);
      if (!Number)
        Q.Arguments.fail("bad-argument", questions::unknownSystemCall(Name));
      Numbers.push_back(Number.value_or(0));
    }
  if (Error E = Q.Arguments.finish())
    return E;
  return toJSON(questions::searchSystemCalls(
      Q.T, Numbers, Options,
      [&](const questions::SystemCallAnswer &Call) {
        return Q.Emit(toJSON(Call));
      },
      Q.Cancel));
}

static Expected<json::Value> output(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  std::string Text = Q.Arguments.text("find");
  std::optional<uint32_t> Descriptor;
  if (Q.Arguments.has("descriptor"))
    Descriptor = static_cast<uint32_t>(
        Q.Arguments.number("descriptor", 0, 0, UINT32_MAX));
  if (Error E = Q.Arguments.finish())
    return E;
  return toJSON(questions::searchOutput(
      Q.T, Text, Descriptor, Options,
      [&](const questions::OutputMatch &Match) {
        return Q.Emit(toJSON(Match));
      },
      Q.Cancel));
}

ArrayRef<JsonCommand> jsonEventCommands() {
  static const JsonCommand Table[] = {
      {"events", true, events},
      {"output", true, output},
      {"system-calls", true, systemCalls},
  };
  return Table;
}

} // namespace chronicle::jsonapi
