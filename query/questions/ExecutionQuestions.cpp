// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/ExecutionQuestions.h"
#include <deque>

using namespace llvm;

namespace chronicle::questions {

namespace {
/// The executions of one place, a few at a time: Trace calls a visitor, but a
/// merge must pull.
class ExecutionQueue {
public:
  ExecutionQueue(const query::Trace &T, const CodePlace &Place,
                 const SearchOptions &Options,
                 const answers::Cancellation &Cancel)
      : T(T), Range(Place.Range), When(Place.When), Thread(Options.Thread),
        Backward(Options.Backward), Cancel(Cancel) {}

  /// Null: no more.
  Expected<const answers::Execution *> front() {
    if (Ready.empty() && !Ended)
      if (Error E = refill())
        return E;
    return Ready.empty() ? nullptr : &Ready.front();
  }
  void pop() { Ready.pop_front(); }

private:
  Error refill() {
    // Few at first, because one is often enough.
    size_t Count = Batch;
    Batch = std::min<size_t>(Batch * 4, 4096);
    Error E = T.executions(
        Range, When, Thread, Backward,
        [&](const answers::Execution &X) {
          Ready.push_back(X);
          return Ready.size() < Count;
        },
        &Cancel);
    if (E)
      return E;
    Ended = Ready.size() < Count;
    if (Ended)
      return Error::success();
    // A timestamp has one instruction, so the rest starts right after it.
    Timestamp Last = Ready.back().Time;
    if (Backward) {
      Ended = Last <= When.First;
      When.Last = Last - 1;
    } else {
      Ended = Last >= When.Last;
      When.First = Last + 1;
    }
    return Error::success();
  }

  const query::Trace &T;
  answers::AddressRange Range;
  answers::TimeRange When;
  uint32_t Thread;
  bool Backward;
  const answers::Cancellation &Cancel;
  std::deque<answers::Execution> Ready;
  size_t Batch = 4;
  bool Ended = false;
};
} // namespace

Error mergedExecutions(const query::Trace &T, ArrayRef<CodePlace> Places,
                       const SearchOptions &Options,
                       function_ref<bool(const answers::Execution &)> Visit,
                       const answers::Cancellation &Cancel) {
  if (Places.size() == 1)
    return T.executions(Places[0].Range, Places[0].When, Options.Thread,
                        Options.Backward, Visit, &Cancel);
  std::vector<ExecutionQueue> Queues;
  for (const CodePlace &P : Places)
    Queues.emplace_back(T, P, Options, Cancel);
  while (!Cancel.Cancelled) {
    ExecutionQueue *Best = nullptr;
    answers::Execution Next;
    for (ExecutionQueue &Queue : Queues) {
      Expected<const answers::Execution *> Front = Queue.front();
      if (!Front)
        return Front.takeError();
      if (*Front &&
          (!Best || (Options.Backward ? (*Front)->Time > Next.Time
                                      : (*Front)->Time < Next.Time))) {
        Best = &Queue;
        Next = **Front;
      }
    }
    if (!Best)
      break;
    Best->pop();
    if (!Visit(Next))
      break;
  }
  return Error::success();
}

static ExecutionAnswer answerFor(const query::Trace &T,
                                 const answers::Execution &X) {
  return {X, placeAt(T, X.Pc, X.Time)};
}

Expected<std::optional<ExecutionAnswer>>
oneExecution(const query::Trace &T, const CodeSelector &Code,
             const SearchOptions &Options,
             const answers::Cancellation &Cancel) {
  Expected<std::vector<CodePlace>> Places =
      findCode(T, Code, Options.When, Cancel);
  if (!Places)
    return Places.takeError();
  if (Options.When.First > Options.When.Last)
    return std::nullopt;
  std::optional<answers::Execution> Found;
  Error E = mergedExecutions(
      T, *Places, Options,
      [&](const answers::Execution &X) {
        Found = X;
        return false;
      },
      Cancel);
  if (E)
    return E;
  if (!Found)
    return std::nullopt;
  return answerFor(T, *Found);
}

Expected<SearchEnd> searchExecutions(const query::Trace &T,
                                     const CodeSelector &Code,
                                     const SearchOptions &Options,
                                     Visitor<ExecutionAnswer> Visit,
                                     const answers::Cancellation &Cancel) {
  Expected<std::vector<CodePlace>> Places =
      findCode(T, Code, Options.When, Cancel);
  if (!Places)
    return Places.takeError();
  AnswerSink<ExecutionAnswer> Sink(Options.Limit, Visit);
  return Sink.finish(mergedExecutions(
      T, *Places, Options,
      [&](const answers::Execution &X) {
        return Sink.offer([&] { return std::optional(answerFor(T, X)); });
      },
      Cancel));
}

Expected<uint64_t> countExecutions(const query::Trace &T,
                                   const CodeSelector &Code,
                                   const SearchOptions &Options,
                                   const answers::Cancellation &Cancel) {
  Expected<std::vector<CodePlace>> Places =
      findCode(T, Code, Options.When, Cancel);
  if (!Places)
    return Places.takeError();
  uint64_t Count = 0;
  for (const CodePlace &P : *Places) {
    Expected<uint64_t> N =
        T.countExecutions(P.Range, P.When, Options.Thread, &Cancel);
    if (!N)
      return N.takeError();
    Count += *N;
  }
  return Count;
}

} // namespace chronicle::questions
