// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/control/CallSearch.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::control {

Expected<uint64_t> CallSearch::pcAt(Timestamp Time) const {
  Expected<answers::Registers> R = T.registers(Call.Thread, Time);
  if (!R)
    return R.takeError();
  return R->rip();
}

ControlStep CallSearch::stepAt(ControlStep::Kind What, Timestamp Time,
                               uint64_t Pc) const {
  ControlStep S;
  S.What = What;
  S.Time = Time;
  S.Thread = Call.Thread;
  S.Pc = Pc;
  S.Where = questions::placeAt(T, Pc, Time);
  return S;
}

Error CallSearch::lastRun(uint64_t Pc, answers::TimeRange When,
                          function_ref<Expected<bool>(Timestamp)> Visit) const {
  while (When.First <= When.Last && !Cancel.Cancelled) {
    std::optional<Timestamp> Found;
    if (Error E = T.executions(
            {Pc, Pc}, When, Call.Thread, /*Backward=*/true,
            [&](const answers::Execution &X) {
              Found = X.Time;
              return false;
            },
            &Cancel))
      return E;
    if (!Found)
      break;
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(Call.Thread, *Found);
    if (!Stack)
      return Stack.takeError();
    const auto Own = find_if(*Stack, [&](const answers::Activation &A) {
      return A.Entry == Call.Entry;
    });
    if (Own == Stack->end() || *Found == 0)
      break;
    if (Own != Stack->begin()) {
      // In a call that it made: go to before that.
      When.Last = std::prev(Own)->Entry - 1;
      continue;
    }
    Expected<bool> More = Visit(*Found);
    if (!More)
      return More.takeError();
    if (!*More)
      break;
    When.Last = *Found - 1;
  }
  return Error::success();
}

Error CallSearch::addCondition(ControlStep &To) const {
  Expected<answers::Condition> C = Engine.condition(To.Time, &Cancel);
  if (!C)
    return C.takeError();
  To.Condition = std::move(*C);
  if (To.What == ControlStep::Kind::Branch && To.Condition.ComparedPc)
    To.Compared = questions::placeAt(T, To.Condition.ComparedPc, To.Time);
  return Error::success();
}

std::optional<uint64_t> CallSearch::count(uint64_t Pc,
                                          answers::TimeRange When) const {
  auto Count = [&](uint64_t At, Timestamp First) -> std::optional<uint64_t> {
    if (First > When.Last)
      return 0;
    Expected<uint64_t> N =
        T.countExecutions({At, At}, {First, When.Last}, Call.Thread, &Cancel);
    if (N)
      return *N;
    consumeError(N.takeError()); // then it is not counted
    return std::nullopt;
  };
  if (Count(Call.Callee, Call.Entry + 1) != 0)
    return std::nullopt;
  return Count(Pc, When.First);
}

} // namespace chronicle::control
