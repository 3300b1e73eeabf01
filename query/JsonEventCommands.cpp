// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// events, output.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "trace-format/EventNames.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <deque>
#include <map>

using namespace llvm;

namespace chronicle {

static constexpr uint64_t bit(uint32_t Kind) { return uint64_t(1) << Kind; }

static constexpr uint64_t SystemCallKinds =
    bit(CH_EV_SYSCALL_ENTER) | bit(CH_EV_SYSCALL_EXIT);
static constexpr uint64_t SignalKinds =
    bit(CH_EV_SIGNAL) | bit(CH_EV_SIGNAL_RETURN) | bit(CH_EV_FAULT);
static constexpr uint64_t ThreadKinds =
    bit(CH_EV_THREAD_START) | bit(CH_EV_THREAD_EXIT);
static constexpr uint64_t MapKinds =
    bit(CH_EV_MAP) | bit(CH_EV_UNMAP) | bit(CH_EV_PROTECT);
/// What people ask about; the others are there for the replay.
static constexpr uint64_t DefaultKinds =
    SystemCallKinds | SignalKinds | ThreadKinds | MapKinds | bit(CH_EV_RESUME) |
    bit(CH_EV_OUTPUT) | bit(CH_EV_OUTSIDE_WRITE) | bit(CH_EV_LOG_LOADS) |
    bit(CH_EV_END);

/// 0: there is no such kind or group of kinds.
static uint64_t kindsNamed(StringRef Name) {
  static const std::pair<const char *, uint64_t> Groups[] = {
      {"system-calls", SystemCallKinds},
      {"signals", SignalKinds},
      {"threads", ThreadKinds},
      {"switches", bit(CH_EV_RESUME)},
      {"maps", MapKinds},
  };
  for (auto [Group, Kinds] : Groups)
    if (Name == Group)
      return Kinds;
  for (uint32_t Kind = CH_EV_SNAPSHOT; Kind < EventKindCount; ++Kind)
    if (Kind != CH_EV_AUDIT && Name == eventKindName(Kind))
      return bit(Kind);
  return 0;
}

static Expected<json::Value> events(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  bool Backward = Q.Arguments.flag("backward", false);
  uint64_t Kinds = 0;
  for (const std::string &Name : Q.Arguments.texts("kinds")) {
    uint64_t Some = kindsNamed(Name);
    if (!Some)
      Q.Arguments.fail("bad-argument",
                       "there are no events of the kind '" + Name +
                           "'; some that there are: system-calls, signals, "
                           "threads, switches, maps, output");
    Kinds |= Some;
  }
  if (!Q.Arguments.has("kinds"))
    Kinds = DefaultKinds;
  if (Error E = Q.Arguments.finish())
    return E;
  uint64_t Count = 0;
  bool More = false;
  Error E = Q.T.events(
      Kinds, When, Backward,
      [&](const TimedEvent &Event) {
        if (Count == Limit) {
          More = true;
          return false;
        }
        ++Count;
        return Q.Emit(jsonEvent(Event));
      },
      &Q.Cancel);
  if (E)
    return E;
  return json::Object{{"count", Count}, {"more", More}};
}

namespace {
/// What was written to one descriptor: the end of it, that a match may still
/// start in.
struct OutputTail {
  struct Piece {
    Timestamp Time;
    uint32_t Thread;
    uint64_t Offset; ///< in all that was written to the descriptor
    std::string Bytes;
  };
  std::string Bytes;
  uint64_t Offset = 0; ///< of Bytes
  std::deque<Piece> Pieces;

  void append(Piece P) {
    P.Offset = Offset + Bytes.size();
    Bytes += P.Bytes;
    Pieces.push_back(std::move(P));
  }
  void forgetUpTo(uint64_t Position) {
    Bytes.erase(0, Position - Offset);
    Offset = Position;
    while (!Pieces.empty() &&
           Pieces.front().Offset + Pieces.front().Bytes.size() <= Position)
      Pieces.pop_front();
  }
  json::Object match(uint64_t Position, uint64_t Length,
                     uint32_t Descriptor) const {
    json::Array Writes;
    Timestamp Time = 0;
    for (const Piece &P : Pieces) {
      if (P.Offset + P.Bytes.size() <= Position ||
          P.Offset >= Position + Length)
        continue;
      if (Writes.empty())
        Time = P.Time;
      Writes.push_back(json::Object{
          {"time", P.Time}, {"thread", P.Thread}, {"text", jsonText(P.Bytes)}});
    }
    return json::Object{{"time", Time},
                        {"descriptor", Descriptor},
                        {"offset", Position},
                        {"writes", std::move(Writes)}};
  }
};
} // namespace

static Expected<json::Value> output(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  std::string Text = Q.Arguments.text("find");
  bool AnyDescriptor = !Q.Arguments.has("descriptor");
  uint64_t Only = Q.Arguments.number("descriptor", 0, 0, UINT32_MAX);
  if (Error E = Q.Arguments.finish())
    return E;
  std::map<uint32_t, OutputTail> Tails;
  uint64_t Count = 0;
  bool More = false;
  Error E = Q.T.events(
      bit(CH_EV_OUTPUT), When, /*Backward=*/false,
      [&](const TimedEvent &Event) {
        ch_ev_output Head = {};
        if (Event.Payload.size() < sizeof(Head))
          return true;
        std::memcpy(&Head, Event.Payload.data(), sizeof(Head));
        if (!AnyDescriptor && Head.descriptor != Only)
          return true;
        OutputTail &Tail = Tails[Head.descriptor];
        Tail.append(
            {Event.Time, Head.thread, 0,
             toStringRef(ArrayRef(Event.Payload).drop_front(sizeof(Head)))
                 .str()});
        size_t At = 0;
        for (; (At = Tail.Bytes.find(Text, At)) != std::string::npos; ++At) {
          if (Count == Limit) {
            More = true;
            return false;
          }
          ++Count;
          if (!Q.Emit(
                  Tail.match(Tail.Offset + At, Text.size(), Head.descriptor)))
            return false;
        }
        size_t Keep = std::min(Tail.Bytes.size(), Text.size() - 1);
        Tail.forgetUpTo(Tail.Offset + Tail.Bytes.size() - Keep);
        return true;
      },
      &Q.Cancel);
  if (E)
    return E;
  return json::Object{{"count", Count}, {"more", More}};
}

ArrayRef<JsonCommand> jsonEventCommands() {
  static const JsonCommand Table[] = {
      {"events", true, events},
      {"output", true, output},
  };
  return Table;
}

} // namespace chronicle
