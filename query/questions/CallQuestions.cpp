// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/CallQuestions.h"
#include "query/questions/ExecutionQuestions.h"
#include "query/questions/FunctionEntry.h"
#include "trace-format/GuestState.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::questions {

// ---- calls of a function ----

namespace {
/// How an execution of a function's first instruction came about.
struct Arrival {
  answers::Activation Call;
  uint64_t CallSite = 0; ///< of the call, or of the jump of a tail call
  bool TailCall = false;
  /// The calls around it, innermost first.
  std::vector<answers::Activation> Callers;
};
} // namespace

/// Nothing: the execution is no call, but a jump within the function. A call
/// through the linkage table and a tail call arrive by a jump, in an activation
/// that began earlier. MostCallers: how many are wanted.
static Expected<std::optional<Arrival>>
arrivalAt(const query::Trace &T, const answers::Execution &X,
          size_t MostCallers = ~size_t(0) - 1) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(X.Thread, X.Time, MostCallers + 1);
  if (!Stack)
    return Stack.takeError();
  if (Stack->empty())
    return std::nullopt;
  Arrival Result;
  Result.Call = Stack->front();
  Result.CallSite = Result.Call.CallSite;
  Stack->erase(Stack->begin());
  Result.Callers = std::move(*Stack);
  if (Result.Call.Entry == X.Time || X.Time == 0)
    return Result;
  Expected<std::optional<uint64_t>> Before =
      instructionBefore(T, X.Thread, X.Time);
  if (!Before)
    return Before.takeError();
  if (!*Before)
    return Result;
  std::optional<symbols::CodeSymbol> Here = T.symbols().find(X.Pc, X.Time);
  if (Here && **Before - Here->FunctionAddress < Here->FunctionSize)
    return std::nullopt;
  std::optional<symbols::CodeSymbol> Entered =
      T.symbols().find(Result.Call.Callee, Result.Call.Entry);
  bool Stub = Entered &&
              StringRef(Entered->Frames.back().LinkageName).ends_with("@plt");
  if (!Stub) {
    Result.CallSite = **Before;
    Result.TailCall = true;
  }
  return Result;
}

static Expected<std::optional<CallAnswer>> callAt(const query::Trace &T,
                                                  const answers::Execution &X) {
  Expected<std::optional<Arrival>> Came = arrivalAt(T, X);
  if (!Came)
    return Came.takeError();
  if (!*Came)
    return std::nullopt;
  const Arrival &A = **Came;
  Expected<answers::Registers> R = T.registers(X.Thread, X.Time);
  if (!R)
    return R.takeError();
  Expected<CallEnd> End = endOf(T, A.Call);
  if (!End)
    return End.takeError();
  CallAnswer Answer;
  Answer.Entry = X.Time;
  Answer.End = *End;
  Answer.Thread = X.Thread;
  Answer.Function = placeAt(T, X.Pc, X.Time);
  Answer.Arguments = {R->word(CH_OFFSET_RDI), R->word(CH_OFFSET_RSI),
                      R->word(CH_OFFSET_RDX), R->word(CH_OFFSET_RCX),
                      R->word(CH_OFFSET_R8),  R->word(CH_OFFSET_R9)};
  Answer.Depth = A.Callers.size();
  Answer.TailCall = A.TailCall;
  if (A.CallSite) {
    Answer.Caller = placeAt(T, A.CallSite, X.Time);
    Answer.Outside = callerOfSystemCode(T, *Answer.Caller, A.Callers, X.Time);
  }
  return Answer;
}

/// When the activation itself, and not a call that it made, last ran one of
/// the instructions from First to Last. Costs a call stack per call that it
/// made and that ran them too.
static Expected<std::optional<Timestamp>>
lastRunBy(const query::Trace &T, const answers::Activation &A,
          answers::AddressRange Code, answers::TimeRange When,
          const answers::Cancellation &Cancel) {
  while (When.First <= When.Last && !Cancel.Cancelled) {
    std::optional<Timestamp> Found;
    if (Error E = T.executions(
            Code, When, A.Thread, /*Backward=*/true,
            [&](const answers::Execution &X) {
              Found = X.Time;
              return false;
            },
            &Cancel))
      return E;
    if (!Found)
      return std::nullopt;
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(A.Thread, *Found);
    if (!Stack)
      return Stack.takeError();
    auto Own = find_if(*Stack, [&](const answers::Activation &Each) {
      return Each.Entry == A.Entry && Each.StackPointer == A.StackPointer;
    });
    if (Own == Stack->begin() && Own != Stack->end())
      return Found;
    if (Own == Stack->end())
      return std::nullopt;
    When.Last = std::prev(Own)->Entry - 1;
  }
  return std::nullopt;
}

/// The code of the function at Pc that is not the inlined code.
static std::vector<answers::AddressRange>
codeOutside(const query::Trace &T, const answers::Execution &X,
            const symbols::InlinedCode &Code) {
  std::optional<symbols::CodeSymbol> Here = T.symbols().find(X.Pc, X.Time);
  if (!Here)
    return {};
  std::vector<std::pair<uint64_t, uint64_t>> Parts = {
      {Here->FunctionAddress, Here->FunctionAddress + Here->FunctionSize}};
  // The compiler may have put rarely used code elsewhere.
  const std::string Name =
      StringRef(Here->Frames.back().LinkageName).split(".cold").first.str();
  for (const std::string &Each : {Name, Name + ".cold"})
    for (const symbols::SymbolAt &Part : T.symbols().functions(Each))
      if (Part.Module == Here->Module && Part.LinkageName == Each &&
          Part.Address != Here->FunctionAddress)
        Parts.emplace_back(Part.Address, Part.Address + Part.Size);
  std::vector<answers::AddressRange> Result;
  for (auto [From, To] : Parts) {
    for (auto [First, End] : Code.Ranges) {
      if (End <= From || First >= To)
        continue;
      if (From < First)
        Result.push_back({From, First - 1});
      From = End;
    }
    if (From < To)
      Result.push_back({From, To - 1});
  }
  return Result;
}

/// Whether the execution of an entry of inlined code is a call, and not a jump
/// within that code. It is a call if the activation has not run an entry since
/// it last was outside of the code. The instruction before says too little:
/// compilers move instructions of inlined code to before its entry.
static Expected<bool> isInlinedCall(const query::Trace &T,
                                    const answers::Execution &X,
                                    const answers::Activation &A,
                                    const symbols::InlinedCode &Code,
                                    const answers::Cancellation &Cancel) {
  if (X.Time <= A.Entry)
    return true;
  std::optional<Timestamp> Entered;
  for (uint64_t Entry : Code.Entries) {
    Expected<std::optional<Timestamp>> Last = lastRunBy(
        T, A, {Entry, Entry}, {Entered.value_or(A.Entry), X.Time - 1}, Cancel);
    if (!Last)
      return Last.takeError();
    Entered = *Last ? *Last : Entered;
  }
  if (!Entered)
    return true;
  for (answers::AddressRange Range : codeOutside(T, X, Code)) {
    Expected<std::optional<Timestamp>> Left =
        lastRunBy(T, A, Range, {*Entered + 1, X.Time - 1}, Cancel);
    if (!Left)
      return Left.takeError();
    if (*Left)
      return true;
  }
  return false;
}

/// The start of inlined code. Nothing: it is a jump within that code.
static Expected<std::optional<CallAnswer>>
inlinedCallAt(const query::Trace &T, const answers::Execution &X,
              const symbols::InlinedCode &Code,
              const answers::Cancellation &Cancel) {
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(X.Thread, X.Time);
  if (!Stack)
    return Stack.takeError();
  if (!Stack->empty()) {
    Expected<bool> IsCall = isInlinedCall(T, X, Stack->front(), Code, Cancel);
    if (!IsCall)
      return IsCall.takeError();
    if (!*IsCall)
      return std::nullopt;
  }
  CallAnswer Answer;
  Answer.Entry = X.Time;
  Answer.Thread = X.Thread;
  Answer.Inlined = true;
  Answer.Depth = Stack->size();
  Answer.Function = placeAt(T, X.Pc, X.Time);
  if (!Answer.Function.Symbol)
    return Answer;
  // The function is one of those that were inlined there, and its caller is the
  // next one.
  auto &Frames = Answer.Function.Symbol->Frames;
  auto *It = find_if(Frames, [&](const symbols::SourceFrame &Frame) {
    return Frame.LinkageName == Code.LinkageName;
  });
  if (It == Frames.end() || std::next(It) == Frames.end())
    return Answer;
  Answer.Caller = Answer.Function;
  auto &Callers = Answer.Caller->Symbol->Frames;
  Callers.erase(Callers.begin(), Callers.begin() + (It - Frames.begin()) + 1);
  Answer.InlinedInside = size_t(It - Frames.begin());
  // Erasing nothing would move each frame to itself.
  if (It != Frames.begin())
    Frames.erase(Frames.begin(), It);
  Answer.Outside = callerOfSystemCode(
      T, *Answer.Caller, ArrayRef(*Stack).drop_front(Stack->empty() ? 0 : 1),
      X.Time);
  return Answer;
}

/// The place that an execution is of, if it is inlined code; else null.
static const CodePlace *inlinedPlace(ArrayRef<CodePlace> Places,
                                     const answers::Execution &X) {
  const auto *Inlined = find_if(Places, [&](const CodePlace &P) {
    return P.Inlined && P.Range.First == X.Pc && P.When.First <= X.Time &&
           X.Time <= P.When.Last;
  });
  return Inlined == Places.end() ? nullptr : Inlined;
}

Expected<bool> isCall(const query::Trace &T, ArrayRef<CodePlace> Places,
                      const answers::Execution &X,
                      const answers::Cancellation &Cancel) {
  const CodePlace *Inlined = inlinedPlace(Places, X);
  if (!Inlined) {
    Expected<std::optional<Arrival>> Came = arrivalAt(T, X, 0);
    if (!Came)
      return Came.takeError();
    return Came->has_value();
  }
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(X.Thread, X.Time, 1);
  if (!Stack)
    return Stack.takeError();
  if (Stack->empty())
    return true;
  return isInlinedCall(T, X, Stack->front(), *Inlined->Inlined, Cancel);
}

Expected<SearchEnd> searchCalls(const query::Trace &T, StringRef Function,
                                const SearchOptions &Options,
                                Visitor<CallAnswer> Visit,
                                const answers::Cancellation &Cancel) {
  Expected<std::vector<CodePlace>> Places =
      findCode(T, FunctionName{Function.str()}, Options.When, Cancel);
  if (!Places)
    return Places.takeError();
  AnswerSink<CallAnswer> Sink(Options.Limit, Visit);
  return Sink.finish(mergedExecutions(
      T, *Places, Options,
      [&](const answers::Execution &X) {
        const CodePlace *Inlined = inlinedPlace(*Places, X);
        return Sink.offer([&] {
          return Inlined ? inlinedCallAt(T, X, *Inlined->Inlined, Cancel)
                         : callAt(T, X);
        });
      },
      Cancel));
}

// ---- frames ----

static FrameAnswer frameAt(const query::Trace &T, const answers::Activation &A,
                           Timestamp At) {
  const bool Known = A.Pc || A.Jumped || A.CallSite;
  return {A, Known ? placeAt(T, A.Pc, At) : placeAt(T, A.Callee, A.Entry)};
}

Expected<std::vector<FrameAnswer>>
callStack(const query::Trace &T, uint32_t Thread, Timestamp At, size_t Most) {
  Expected<std::vector<answers::Activation>> Stack =
      stackWithStrayReturns(T, Thread, At, Most);
  if (!Stack)
    return Stack.takeError();
  std::vector<FrameAnswer> Frames;
  for (const answers::Activation &A : *Stack)
    Frames.push_back(frameAt(T, A, At));
  return Frames;
}

Expected<SearchEnd> searchCallees(const query::Trace &T,
                                  const answers::Activation &Caller,
                                  uint64_t Limit, Visitor<FrameAnswer> Visit,
                                  const answers::Cancellation &Cancel) {
  AnswerSink<FrameAnswer> Sink(Limit, Visit);
  return Sink.finish(T.callees(
      Caller,
      [&](const answers::Activation &Callee) {
        return Sink.offer(
            [&] { return std::optional(frameAt(T, Callee, Callee.Entry)); });
      },
      &Cancel));
}

Expected<ReturnAnswer> returnOf(const query::Trace &T,
                                const answers::Activation &A) {
  Expected<CallEnd> End = endOf(T, A);
  if (!End)
    return End.takeError();
  return ReturnAnswer{frameAt(T, A, A.Entry), *End};
}

} // namespace chronicle::questions
