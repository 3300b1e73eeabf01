// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write, writes.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonParentWrite.h"
#include "query/json/JsonPlaces.h"
#include "query/json/JsonValues.h"

using namespace llvm;

namespace chronicle::jsonapi {

static Expected<json::Value> lastWrite(JsonQuery &Q) {
  if (Q.Arguments.has("register"))
    return lastRegisterWrite(Q);
  Timestamp At = Q.Arguments.time("at");
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, {0, At}, At);
  if (!Range)
    return Range.takeError();
  Expected<std::optional<questions::WriteAnswer>> Found =
      questions::lastWrite(Q.T, *Range, At, Q.Cancel);
  if (!Found || !*Found || !ancestry::isFromFork(Q.T, **Found))
    return toJSON(std::move(Found));
  json::Object Result = toJSON(**Found);
  Expected<std::optional<ancestry::ParentWrite>> Theirs =
      ancestry::parentWrite(Q.T, **Found, Q.Cancel);
  if (!Theirs)
    Result["parent-unknown"] = jsonText(toString(Theirs.takeError()));
  else if (*Theirs)
    Result["parent"] = toJSON(**Theirs);
  return Result;
}

static Expected<json::Value> nextWrite(JsonQuery &Q) {
  if (Q.Arguments.has("register"))
    return nextRegisterWrite(Q);
  Timestamp At = Q.Arguments.time("at");
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, {At, Q.T.instructions()}, At);
  if (!Range)
    return Range.takeError();
  return toJSON(questions::nextWrite(Q.T, *Range, At, Q.Cancel));
}

static Expected<json::Value> writes(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  if (Q.Arguments.has("register"))
    return registerWrites(Q, Options);
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, Options.When, Options.When.Last);
  if (!Range)
    return Range.takeError();
  return toJSON(questions::searchWrites(
      Q.T, *Range, Options,
      [&](const questions::WriteAnswer &W) { return Q.Emit(toJSON(W)); },
      Q.Cancel));
}

ArrayRef<JsonCommand> jsonWriteCommands() {
  static const JsonCommand Table[] = {
      {"last-write", false, lastWrite},
      {"next-write", false, nextWrite},
      {"writes", true, writes},
  };
  return Table;
}

} // namespace chronicle::jsonapi
