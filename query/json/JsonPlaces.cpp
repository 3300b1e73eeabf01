// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/json/JsonPlaces.h"
#include "query/questions/Place.h"
#include "query/questions/VariablePlace.h"

using namespace llvm;

namespace chronicle::jsonapi {

static Error checkLength(uint64_t Length, uint64_t MaxLength) {
  if (Length == 0 || Length > MaxLength)
    return queryError("bad-argument", "'length' must be from 1 to " +
                                          Twine(MaxLength) + ", not " +
                                          Twine(Length));
  return Error::success();
}

static Expected<answers::AddressRange>
rangeFrom(uint64_t Address, uint64_t Length, uint64_t MaxLength) {
  if (Error E = checkLength(Length, MaxLength))
    return E;
  if (Address + (Length - 1) < Address)
    return queryError("bad-argument", "the range ends after the last address");
  return answers::AddressRange{Address, Address + (Length - 1)};
}

static Expected<answers::AddressRange> variableArgument(JsonQuery &Q,
                                                        uint64_t MaxLength,
                                                        answers::TimeRange When,
                                                        Timestamp At) {
  JsonArguments &A = Q.Arguments;
  questions::VariableName Variable;
  Variable.Name = A.text("global");
  Variable.Offset = A.number("offset", 0);
  if (A.has("length"))
    Variable.Length = A.number("length");
  if (A.has("thread"))
    Variable.Thread =
        static_cast<uint32_t>(A.number("thread", 0, 1, UINT32_MAX));
  if (Error E = A.finish())
    return E;
  Expected<answers::AddressRange> Range =
      questions::findVariable(Q.T, Variable, When, At);
  if (!Range)
    return Range.takeError();
  return rangeFrom(Range->First, Range->Last - Range->First + 1, MaxLength);
}

Expected<answers::AddressRange> memoryArgument(JsonQuery &Q, uint64_t MaxLength,
                                               answers::TimeRange When,
                                               Timestamp At) {
  JsonArguments &A = Q.Arguments;
  if (A.has("global"))
    return variableArgument(Q, MaxLength, When, At);
  uint64_t Address = A.number("address");
  uint64_t Length = A.number("length");
  if (Error E = A.finish())
    return E;
  return rangeFrom(Address, Length, MaxLength);
}

uint32_t lineArgument(JsonQuery &Q) {
  uint64_t Line = Q.Arguments.number("line");
  if (Line == 0 || Line > UINT32_MAX)
    Q.Arguments.fail("bad-argument", "'line' must be from 1 to 2^32 - 1");
  return static_cast<uint32_t>(Line);
}

uint32_t threadArgument(JsonQuery &Q) {
  return static_cast<uint32_t>(Q.Arguments.number("thread", 0, 0, UINT32_MAX));
}

questions::SearchOptions searchArguments(JsonQuery &Q) {
  questions::SearchOptions Options;
  Options.When = Q.Arguments.times();
  Options.Limit = Q.Arguments.number("limit", UINT64_MAX, 1, UINT64_MAX);
  return Options;
}

Expected<questions::CodeSelector> codeArgument(JsonQuery &Q) {
  JsonArguments &A = Q.Arguments;
  unsigned Ways =
      A.has("address") + A.has("function") + A.has("inside") + A.has("file");
  if (Ways != 1)
    A.fail(Ways ? "bad-argument" : "missing-argument",
           "name the code by one of 'address' (and 'length'), 'function', "
           "'inside', or 'file' and 'line'");
  if (A.has("function") || A.has("inside")) {
    bool Whole = A.has("inside");
    questions::FunctionName Function{A.text(Whole ? "inside" : "function"),
                                     Whole};
    if (Error E = A.finish())
      return E;
    return Function;
  }
  if (A.has("file")) {
    questions::SourceLine Line{A.text("file"), lineArgument(Q)};
    if (Error E = A.finish())
      return E;
    return Line;
  }
  uint64_t Address = A.number("address");
  uint64_t Length = A.number("length", 1);
  if (Error E = A.finish())
    return E;
  Expected<answers::AddressRange> Range =
      rangeFrom(Address, Length, uint64_t(1) << 47);
  if (!Range)
    return Range.takeError();
  return *Range;
}

Expected<ThreadMoment> threadMomentArgument(JsonQuery &Q) {
  const Timestamp At = Q.Arguments.time("at");
  const auto Thread = static_cast<uint32_t>(
      Q.Arguments.has("thread") ? Q.Arguments.number("thread", 0, 1, UINT32_MAX)
                                : 0);
  if (Error E = Q.Arguments.finish())
    return E;
  Expected<uint32_t> Live = questions::liveThread(Q.T, Thread, At);
  if (!Live)
    return Live.takeError();
  return ThreadMoment{At, *Live};
}

} // namespace chronicle::jsonapi
