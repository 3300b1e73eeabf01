// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "query/questions/FunctionEntry.h"
#include "query/symbols/Symbols.h"
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

/// The function that the code belongs to; its address is 0 if it is not known.
/// Rarely used code that the compiler put elsewhere (".cold") belongs to the
/// function it came from.
static symbols::SymbolAt functionAt(const query::Trace &T, uint64_t Pc,
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
  if (!Function.Address)
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

} // namespace chronicle::questions
