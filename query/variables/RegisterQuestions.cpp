// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/variables/RegisterQuestions.h"

using namespace llvm;

namespace chronicle::variables {

Expected<RegisterWriteAnswer> describeWrite(const query::Trace &T,
                                            origins::ValueEngine &Engine,
                                            const registers::Register &R,
                                            const answers::RegisterWrite &W) {
  Expected<registers::Change> Change = Engine.registerChange(W);
  if (!Change)
    return Change.takeError();
  RegisterWriteAnswer Answer;
  Answer.Write = W;
  Answer.Register = R;
  Answer.Old = R.valueIn(Change->Old);
  Answer.New = R.valueIn(Change->New);
  if (W.Event)
    Answer.Write.Pc = Change->New.rip();
  Answer.Where = questions::placeAt(T, Answer.Write.Pc, W.Time);
  Expected<std::optional<questions::Place>> Caller =
      questions::callerOfSystemCode(T, Answer.Where, W.Thread, W.Time);
  if (!Caller)
    return Caller.takeError();
  Answer.Caller = std::move(*Caller);
  if (W.By == answers::Writer::SystemCall) {
    Expected<questions::SystemCall> Call =
        questions::systemCallAt(T, W.SystemCall, W.Thread, W.Time);
    if (!Call)
      return Call.takeError();
    Answer.Call = *Call;
  }
  return Answer;
}

static Expected<std::optional<RegisterWriteAnswer>>
oneWrite(const query::Trace &T, origins::ValueEngine &Engine,
         const CallScope &Scope, const registers::Register &R,
         answers::TimeRange When, Timestamp At, bool Backward,
         const answers::Cancellation &Cancel) {
  std::optional<answers::RegisterWrite> Found;
  Error E = Engine.registerWrites(
      Scope.Call.Thread, R.Bytes, When, Backward,
      [&](const answers::RegisterWrite &W) {
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
  return describeWrite(T, Engine, R, *Found);
}

Expected<std::optional<RegisterWriteAnswer>>
lastRegisterWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const CallScope &Scope, const registers::Register &R,
                  Timestamp At, const answers::Cancellation &Cancel) {
  return oneWrite(T, Engine, Scope, R, {Scope.Call.Entry, At}, At,
                  /*Backward=*/true, Cancel);
}

Expected<std::optional<RegisterWriteAnswer>>
nextRegisterWrite(const query::Trace &T, origins::ValueEngine &Engine,
                  const CallScope &Scope, const registers::Register &R,
                  Timestamp At, const answers::Cancellation &Cancel) {
  Expected<answers::TimeRange> When = timeOf(T, Scope.Call);
  if (!When)
    return When.takeError();
  return oneWrite(T, Engine, Scope, R, {At, When->Last}, At, /*Backward=*/false,
                  Cancel);
}

Expected<questions::SearchEnd>
searchRegisterWrites(const query::Trace &T, origins::ValueEngine &Engine,
                     const registers::Register &R,
                     const questions::SearchOptions &Options,
                     questions::Visitor<RegisterWriteAnswer> Visit,
                     const answers::Cancellation &Cancel) {
  questions::AnswerSink<RegisterWriteAnswer> Sink(Options.Limit, Visit);
  Error E = Engine.registerWrites(
      Options.Thread, R.Bytes, Options.When, Options.Backward,
      [&](const answers::RegisterWrite &W) {
        return Sink.offer(
            [&]() -> Expected<std::optional<RegisterWriteAnswer>> {
              return describeWrite(T, Engine, R, W);
            });
      },
      &Cancel);
  return Sink.finish(std::move(E));
}

} // namespace chronicle::variables
