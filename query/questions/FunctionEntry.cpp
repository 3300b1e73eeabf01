// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/FunctionEntry.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::questions {

Expected<std::optional<uint64_t>>
instructionBefore(const query::Trace &T, uint32_t Thread, Timestamp Time) {
  if (!Time)
    return std::nullopt;
  Expected<uint32_t> Before = T.threadAt(Time - 1);
  if (!Before)
    return Before.takeError();
  if (*Before != Thread)
    return std::nullopt;
  Expected<answers::Registers> R = T.registers(Thread, Time - 1);
  if (!R)
    return R.takeError();
  return R->rip();
}

symbols::SymbolAt functionAt(const query::Trace &T, uint64_t Pc,
                             Timestamp Time) {
  symbols::SymbolAt Result;
  std::optional<symbols::CodeSymbol> Found = T.symbols().find(Pc, Time);
  if (!Found)
    return Result;
  Result.Address = Found->FunctionAddress;
  Result.Size = Found->FunctionSize;
  auto [Name, Part] =
      StringRef(Found->Frames.back().LinkageName).split(".cold");
  if (Name.size() == Found->Frames.back().LinkageName.size())
    return Result;
  for (const symbols::SymbolAt &Whole : T.symbols().functions(Name))
    if (Whole.Module == Found->Module && Whole.LinkageName == Name)
      return Whole;
  return Result;
}

/// The last execution of the function's first instruction from First to Last.
static Expected<std::optional<answers::Execution>>
lastStart(const query::Trace &T, const symbols::SymbolAt &Function,
          uint32_t Thread, answers::TimeRange When) {
  std::optional<answers::Execution> Found;
  if (Error E =
          T.executions({Function.Address, Function.Address}, When, Thread,
                       /*Backward=*/true, [&](const answers::Execution &X) {
                         Found = X;
                         return false;
                       }))
    return E;
  return Found;
}

Expected<std::optional<FunctionEntry>>
functionEntry(const query::Trace &T, const answers::Activation &A,
              Timestamp At) {
  const symbols::SymbolAt Function = functionAt(T, A.Pc, At);
  // A call at time 0 began before the process was forked.
  if (!Function.Address || (!A.Entry && A.CallSite))
    return std::nullopt;
  // Each try skips one call that the activation made and in which the function
  // ran too. If there are many of them, the answer is not worth its cost.
  constexpr unsigned MostTries = 32;
  Timestamp Last = At;
  for (unsigned Try = 0; Try < MostTries && Last >= A.Entry; ++Try) {
    Expected<std::optional<answers::Execution>> X =
        lastStart(T, Function, A.Thread, {A.Entry, Last});
    if (!X)
      return X.takeError();
    if (!*X)
      return std::nullopt;
    if ((*X)->Time == A.Entry)
      return FunctionEntry{A.Entry, A.Callee};
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(A.Thread, (*X)->Time);
    if (!Stack)
      return Stack.takeError();
    auto Own = find_if(*Stack, [&](const answers::Activation &Each) {
      return Each.Entry == A.Entry && Each.StackPointer == A.StackPointer;
    });
    if (Own == Stack->end())
      return std::nullopt;
    if (Own != Stack->begin()) {
      Last = std::prev(Own)->Entry - 1;
      continue;
    }
    Expected<std::optional<uint64_t>> Before =
        instructionBefore(T, A.Thread, (*X)->Time);
    if (!Before)
      return Before.takeError();
    if (!*Before)
      return std::nullopt;
    if (**Before - Function.Address >= Function.Size)
      return FunctionEntry{(*X)->Time, (*X)->Pc};
    Last = (*X)->Time - 1; // a jump within the function
  }
  return std::nullopt;
}

// ---- stray returns ----

namespace {
/// Looks for the return that led into the code that an activation is in.
class StrayReturnSearch {
public:
  /// A.Pc is where the activation is at Until.
  StrayReturnSearch(const query::Trace &T, const answers::Activation &A,
                    Timestamp Until)
      : T(T), A(A), Until(Until) {}

  /// The activation that the return began; nothing: there is none, or it is
  /// too long ago.
  Expected<std::optional<answers::Activation>> run();

private:
  bool isElsewhere();
  Expected<Timestamp> arrival(Timestamp First);
  Expected<bool> isReturn(uint64_t Pc, Timestamp Time);
  Expected<std::optional<answers::Activation>> from(Timestamp Arrived);

  const query::Trace &T;
  const answers::Activation &A;
  Timestamp Until;
  symbols::SymbolAt Function;       ///< that A.Pc belongs to
  std::optional<Timestamp> Earlier; ///< where from() leaves the search to go on
};
} // namespace

/// Whether the activation is in another function than the one that was called.
bool StrayReturnSearch::isElsewhere() {
  // What did not begin with a call has no caller to return to.
  if (!A.CallSite || !A.Callee || A.Signal || A.Jumped)
    return false;
  Function = functionAt(T, A.Pc, Until);
  if (!Function.Size || A.Callee - Function.Address < Function.Size)
    return false;
  // A call through the linkage table goes on elsewhere by a jump.
  std::optional<symbols::CodeSymbol> Called =
      T.symbols().find(A.Callee, A.Entry);
  return Called && Called->FunctionSize &&
         !StringRef(Called->Frames.back().LinkageName).ends_with("@plt");
}

/// When the activation's own code, which runs from First to before Until, last
/// came into the function.
Expected<Timestamp> StrayReturnSearch::arrival(Timestamp First) {
  Timestamp Arrived = Until;
  if (Error E =
          T.executions({Function.Address, Function.Address + Function.Size - 1},
                       {First, Until - 1}, A.Thread, /*Backward=*/true,
                       [&](const answers::Execution &X) {
                         if (X.Time + 1 != Arrived)
                           return false;
                         Arrived = X.Time;
                         return true;
                       }))
    return E;
  return Arrived;
}

/// Whether the instruction is a return, with or without a prefix.
Expected<bool> StrayReturnSearch::isReturn(uint64_t Pc, Timestamp Time) {
  Expected<answers::MemoryContents> M = T.memory(Pc, 2, Time);
  if (!M)
    return M.takeError();
  if (M->Bytes.size() < 2)
    return false;
  const uint8_t First = M->Bytes[0];
  const uint8_t Code = First == 0xf3 || First == 0xf2 ? M->Bytes[1] : First;
  return Code == 0xc3 || Code == 0xc2;
}

/// The entry for the code that the return before Arrived led into; nothing: it
/// was no return, or one like any other.
Expected<std::optional<answers::Activation>>
StrayReturnSearch::from(Timestamp Arrived) {
  Expected<std::optional<uint64_t>> Before =
      instructionBefore(T, A.Thread, Arrived);
  if (!Before)
    return Before.takeError();
  if (!*Before)
    return std::nullopt;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(A.Thread, Arrived - 1, 1);
  if (!Stack)
    return Stack.takeError();
  Expected<answers::Registers> R = T.registers(A.Thread, Arrived);
  if (!R)
    return R.takeError();
  if (Stack->empty())
    return std::nullopt;
  const answers::Activation &Inner = Stack->front();
  const bool IsOwn =
      Inner.Entry == A.Entry && Inner.StackPointer == A.StackPointer;
  if (IsOwn && **Before - Function.Address < Function.Size) {
    Earlier = Arrived; // at the start of a block
    return std::nullopt;
  }
  if (!IsOwn && (Inner.Signal || Inner.Return == R->rip())) {
    Earlier = Inner.Entry; // after a call like any other
    return std::nullopt;
  }
  // An activation that ended otherwise was left by longjmp() or an exception.
  if (!IsOwn && R->rsp() != Inner.StackPointer + 8)
    return std::nullopt;
  // With the stack as a call leaves it, the code returns to A's caller as if A
  // had jumped to it.
  if (R->rsp() == A.StackPointer)
    return std::nullopt;
  Expected<bool> Returned = isReturn(**Before, Arrived - 1);
  if (!Returned)
    return Returned.takeError();
  if (!*Returned)
    return std::nullopt;
  answers::Activation There = A;
  There.Entry = Arrived;
  There.CallSite = **Before;
  There.Return = 0;
  There.Callee = R->rip();
  There.StackPointer = R->rsp();
  There.Jumped = Arrived - 1;
  return There;
}

Expected<std::optional<answers::Activation>> StrayReturnSearch::run() {
  if (!isElsewhere())
    return std::nullopt;
  Expected<std::optional<FunctionEntry>> Start = functionEntry(T, A, Until);
  if (!Start)
    return Start.takeError();
  if (*Start)
    return (*Start)->Time > A.Entry ? from((*Start)->Time) : std::nullopt;
  // It was not entered at its start. Each try goes back over one call that its
  // code made.
  constexpr unsigned MostTries = 16;
  for (unsigned Try = 0; Try < MostTries && Until > A.Entry; ++Try) {
    Expected<std::optional<answers::TimeRange>> Own = T.stretchBefore(A, Until);
    if (!Own)
      return Own.takeError();
    Timestamp Arrived = Until;
    if (*Own && (*Own)->Last + 1 == Until)
      if (Error E = arrival((*Own)->First).moveInto(Arrived))
        return E;
    if (Arrived <= A.Entry)
      return std::nullopt;
    Earlier.reset();
    Expected<std::optional<answers::Activation>> Found = from(Arrived);
    if (!Found || *Found || !Earlier)
      return Found;
    Until = *Earlier;
  }
  return std::nullopt;
}

Expected<std::vector<answers::Activation>>
stackWithStrayReturns(const query::Trace &T, uint32_t Thread, Timestamp At,
                      size_t Most) {
  std::vector<answers::Activation> Result;
  while (true) {
    Expected<std::vector<answers::Activation>> Stack =
        T.callStack(Thread, At, Most - Result.size());
    if (!Stack)
      return Stack.takeError();
    std::optional<Timestamp> Jumped;
    Timestamp Until = At;
    for (const answers::Activation &A : *Stack) {
      Expected<std::optional<answers::Activation>> Stray =
          StrayReturnSearch(T, A, Until).run();
      if (!Stray)
        return Stray.takeError();
      Result.push_back(*Stray ? **Stray : A);
      if (*Stray)
        Jumped = (*Stray)->Jumped;
      if (Jumped)
        break;
      Until = A.Jumped ? *A.Jumped : A.Entry;
    }
    if (!Jumped || Result.size() == Most)
      return Result;
    At = *Jumped;
  }
}

} // namespace chronicle::questions
