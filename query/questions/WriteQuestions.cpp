// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/WriteQuestions.h"

using namespace llvm;

namespace chronicle::questions {

static Expected<std::optional<WriteAnswer>>
answerFor(const query::Trace &T, const answers::Write &W,
          answers::AddressRange Range) {
  WriteAnswer Answer{W, Range, placeAt(T, W.Pc, W.Time), std::nullopt,
                     std::nullopt};
  if (W.By == answers::Writer::Instruction ||
      W.By == answers::Writer::SystemCall) {
    Expected<std::optional<Place>> Caller =
        callerOfSystemCode(T, Answer.Where, W.Thread, W.Time);
    if (!Caller)
      return Caller.takeError();
    Answer.Caller = std::move(*Caller);
  }
  if (W.By == answers::Writer::SystemCall) {
    Expected<SystemCall> Call = systemCallAt(T, W.SystemCall, W.Thread, W.Time);
    if (!Call)
      return Call.takeError();
    Answer.Call = *Call;
  }
  return Answer;
}

static Expected<std::optional<WriteAnswer>>
oneWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
         bool Backward, const answers::Cancellation &Cancel) {
  answers::TimeRange When = Backward ? answers::TimeRange{0, At}
                                     : answers::TimeRange{At, T.instructions()};
  std::optional<answers::Write> Found;
  Error E = T.writes(
      Range, When, Backward,
      [&](const answers::Write &W) {
        if ((W.visibleFrom() <= At) != Backward)
          return true;
        Found = W;
        return false;
      },
      &Cancel);
  if (E)
    return E;
  if (!Found)
    return std::nullopt;
  return answerFor(T, *Found, Range);
}

Expected<std::optional<WriteAnswer>>
lastWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel) {
  return oneWrite(T, Range, At, /*Backward=*/true, Cancel);
}

Expected<std::optional<WriteAnswer>>
nextWrite(const query::Trace &T, answers::AddressRange Range, Timestamp At,
          const answers::Cancellation &Cancel) {
  return oneWrite(T, Range, At, /*Backward=*/false, Cancel);
}

Expected<SearchEnd> searchWrites(const query::Trace &T,
                                 answers::AddressRange Range,
                                 const SearchOptions &Options,
                                 Visitor<WriteAnswer> Visit,
                                 const answers::Cancellation &Cancel) {
  AnswerSink<WriteAnswer> Sink(Options.Limit, Visit);
  return Sink.finish(T.writes(
      Range, Options.When, Options.Backward,
      [&](const answers::Write &W) {
        return Sink.offer([&] { return answerFor(T, W, Range); });
      },
      &Cancel));
}

} // namespace chronicle::questions
