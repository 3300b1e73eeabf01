// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-read, next-read, reads.

#include "query/json/JsonAnswers.h"
#include "query/json/JsonCommands.h"
#include "query/json/JsonPlaces.h"

using namespace llvm;

namespace chronicle::jsonapi {

json::Object toJSON(const questions::ReadAnswer &Answer) {
  const answers::Read &R = Answer.Read;
  json::Object Result{{"time", R.Time},
                      {"thread", R.Thread},
                      {"pc", hexNumber(R.Pc)},
                      {"address", hexNumber(R.Address)},
                      {"size", int64_t(R.Bytes.size())},
                      {"bytes", jsonBytes(R.Bytes)},
                      {"symbol", toJSON(Answer.Where)}};
  if (Answer.Caller)
    Result["caller"] = toJSON(Answer.Caller);
  return Result;
}

static Expected<json::Value> lastRead(JsonQuery &Q) {
  Timestamp At = Q.Arguments.time("at");
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, {0, At}, At);
  if (!Range)
    return Range.takeError();
  return toJSON(questions::lastRead(Q.T, *Range, At, Q.Cancel));
}

static Expected<json::Value> nextRead(JsonQuery &Q) {
  Timestamp At = Q.Arguments.time("at");
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, {At, Q.T.instructions()}, At);
  if (!Range)
    return Range.takeError();
  return toJSON(questions::nextRead(Q.T, *Range, At, Q.Cancel));
}

static Expected<json::Value> reads(JsonQuery &Q) {
  questions::SearchOptions Options = searchArguments(Q);
  Options.Backward = Q.Arguments.flag("backward", false);
  Expected<answers::AddressRange> Range =
      memoryArgument(Q, MaxRange, Options.When, Options.When.Last);
  if (!Range)
    return Range.takeError();
  return toJSON(questions::searchReads(
      Q.T, *Range, Options,
      [&](const questions::ReadAnswer &R) { return Q.Emit(toJSON(R)); },
      Q.Cancel));
}

ArrayRef<JsonCommand> jsonReadCommands() {
  static const JsonCommand Table[] = {
      {"last-read", false, lastRead},
      {"next-read", false, nextRead},
      {"reads", true, reads},
  };
  return Table;
}

} // namespace chronicle::jsonapi
