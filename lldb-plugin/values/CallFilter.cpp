// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/CallFilter.h"
#include "lldb-plugin/values/ValueText.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::values {

CallFilter::CallFilter(StringRef Expression, size_t Functions)
    : Expression(Expression.trim()), Functions(Functions),
      Simple(Comparisons::parse(Expression)),
      Paths(Comparisons::parse(Expression, Comparisons::What::Paths)) {}

/// Leaves the function out if the search is about others too.
Expected<bool> CallFilter::leaveOut(StringRef Function,
                                    const std::string &Why) {
  LeftOut[Function] = Why;
  if (LeftOut.size() < Functions)
    return false;
  return createStringError(
      formatv("cannot evaluate '{0}' at a call of {1}: {2}", Expression,
              Function, Why));
}

bool CallFilter::leaveOutCall(Timestamp Entry, StringRef Why) {
  if (!Unevaluated++)
    FirstUnevaluated = formatv("at time {0}: {1}", groupedDigits(Entry), Why);
  return false;
}

std::string CallFilter::notes() const {
  std::string Text;
  for (const auto &Each : LeftOut)
    Text += formatv("Calls of {0} are left out, because '{1}' cannot be "
                    "evaluated there: {2}.\n",
                    Each.first(), Expression, Each.second);
  if (Early)
    Text += formatv("{0} call(s) did not get past the prologue and are left "
                    "out: their parameters are not known.\n",
                    Early);
  if (Unevaluated)
    Text += formatv("{0} call(s) are left out, because '{1}' cannot be "
                    "evaluated there, the first {2}.\n",
                    Unevaluated, Expression,
                    StringRef(FirstUnevaluated).rtrim('.'));
  return Text;
}

Expected<bool> CallFilter::evaluate(lldb::SBFrame Frame, const CallMoment &Call,
                                    StringRef Function) {
  lldb::SBValue V = Frame.EvaluateExpression(Expression.c_str());
  if (V.GetError().Fail()) {
    // LLDB's compiler does not see 'this' of a function that is inlined and not
    // the innermost one. As a variable it is there.
    auto Number = [&](StringRef Path) {
      return wholeNumber(Frame.GetValueForVariablePath(Path.str().c_str()));
    };
    if (Paths)
      if (std::optional<bool> Holds = Paths->hold(Number))
        return *Holds;
    std::string Why = errorText(V.GetError());
    // What cannot be compiled for a function cannot be at any of its calls.
    if (!isCompiled(V.GetError()))
      return leaveOut(Function, Why);
    return leaveOutCall(Call.Entry, Why);
  }
  lldb::SBError Failed;
  bool Result = V.GetValueAsUnsigned(Failed) != 0;
  if (Failed.Fail())
    return createStringError(formatv(
        "'{0}' is not a condition: it is neither true nor false", Expression));
  return Result;
}

Expected<bool>
CallFilter::wants(CallReader &Reader, const CallMoment &Call,
                  StringRef Function,
                  const std::optional<std::vector<Parameter>> &Parameters) {
  if (empty())
    return true;
  if (LeftOut.contains(Function))
    return false;
  if (!Parameters) {
    if (!StringRef(Expression).contains('$'))
      return leaveOut(Function, "it has no debug info; use registers, for "
                                "example $rdi == 0x1000");
    Expected<lldb::SBFrame> Entry = Reader.entryFrame(Call);
    if (!Entry)
      return Entry.takeError();
    return evaluate(*Entry, Call, Function);
  }
  auto Number = [&](StringRef Name) -> std::optional<APSInt> {
    auto P = find_if(*Parameters,
                     [&](const Parameter &Each) { return Each.Name == Name; });
    return P == Parameters->end() ? std::nullopt : P->Number;
  };
  if (Simple)
    if (std::optional<bool> Holds = Simple->hold(Number))
      return *Holds;
  Expected<std::optional<lldb::SBFrame>> Frame = Reader.frame(Call);
  if (!Frame)
    return Frame.takeError();
  if (!*Frame) {
    ++Early;
    return false;
  }
  return evaluate(**Frame, Call, Function);
}

} // namespace chronicle::values
