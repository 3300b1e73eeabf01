// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write, writes.

#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "query/JsonPlaces.h"

using namespace llvm;

namespace chronicle {

static constexpr uint64_t MaxRange = uint64_t(1) << 47;

/// An instruction's write is visible from the next timestamp on, any other from
/// its own.
static bool visibleAt(const Write &W, Timestamp T) {
  return W.By == Writer::Instruction ? W.Time < T : W.Time <= T;
}

static Expected<json::Value> oneWrite(JsonQuery &Q, bool Backward) {
  Timestamp At = Q.Arguments.time("at");
  TimeRange When =
      Backward ? TimeRange{0, At} : TimeRange{At, Q.T.instructions()};
  Expected<AddressRange> Range = memoryArgument(Q, MaxRange, When, At);
  if (!Range)
    return Range.takeError();
  std::optional<Write> Found;
  Error E = Q.T.writes(
      *Range, When, Backward,
      [&](const Write &W) {
        if (visibleAt(W, At) != Backward)
          return true;
        Found = W;
        return false;
      },
      &Q.Cancel);
  if (E)
    return E;
  if (!Found)
    return nullptr;
  Expected<json::Object> Result = jsonWrite(Q.T, *Found, *Range);
  if (!Result)
    return Result.takeError();
  return std::move(*Result);
}

static Expected<json::Value> lastWrite(JsonQuery &Q) {
  return oneWrite(Q, /*Backward=*/true);
}
static Expected<json::Value> nextWrite(JsonQuery &Q) {
  return oneWrite(Q, /*Backward=*/false);
}

static Expected<json::Value> writes(JsonQuery &Q) {
  TimeRange When = Q.Arguments.times();
  uint64_t Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  bool Backward = Q.Arguments.flag("backward", false);
  Expected<AddressRange> Range = memoryArgument(Q, MaxRange, When, When.Last);
  if (!Range)
    return Range.takeError();
  uint64_t Count = 0;
  bool More = false;
  Error Inner = Error::success();
  Error E = Q.T.writes(
      *Range, When, Backward,
      [&](const Write &W) {
        if (Count == Limit) {
          More = true;
          return false;
        }
        Expected<json::Object> Result = jsonWrite(Q.T, W, *Range);
        if (!Result) {
          Inner = joinErrors(std::move(Inner), Result.takeError());
          return false;
        }
        ++Count;
        return Q.Emit(std::move(*Result));
      },
      &Q.Cancel);
  if (Error Both = joinErrors(std::move(E), std::move(Inner)))
    return Both;
  return json::Object{{"count", Count}, {"more", More}};
}

ArrayRef<JsonCommand> jsonWriteCommands() {
  static const JsonCommand Table[] = {
      {"last-write", false, lastWrite},
      {"next-write", false, nextWrite},
      {"writes", true, writes},
  };
  return Table;
}

} // namespace chronicle
