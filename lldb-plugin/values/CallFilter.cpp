// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/CallFilter.h"
#include "lldb-plugin/values/ValueText.h"
#include "trace-format/Text.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::values {

std::optional<CallFilter::Comparison> CallFilter::comparison(StringRef Text) {
  Text = Text.trim();
  StringRef Name =
      Text.take_while([](char C) { return isAlnum(C) || C == '_'; });
  if (Name.empty() || isDigit(Name[0]))
    return std::nullopt;
  StringRef Rest = Text.drop_front(Name.size()).ltrim();
  for (StringRef Order : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!Rest.consume_front(Order))
      continue;
    int64_t Number;
    if (Rest.trim().getAsInteger(0, Number))
      return std::nullopt;
    return Comparison{Name.str(), Order.str(), Number};
  }
  return std::nullopt;
}

CallFilter::CallFilter(StringRef Expression, size_t Functions)
    : Expression(Expression.trim()), Functions(Functions) {
  SmallVector<StringRef, 4> Parts;
  Expression.split(Parts, "&&");
  for (StringRef Part : Parts) {
    std::optional<Comparison> C = comparison(Part);
    if (!C) {
      Comparisons.clear();
      return;
    }
    Comparisons.push_back(std::move(*C));
  }
}

std::optional<bool> CallFilter::holds(const Comparison &C,
                                      ArrayRef<Parameter> Parameters) {
  auto *P = find_if(Parameters,
                    [&](const Parameter &Each) { return Each.Name == C.Name; });
  if (P == Parameters.end() || !P->Number)
    return std::nullopt;
  // In C the negative number would become a large one.
  if (P->Number->isUnsigned() && C.Number < 0)
    return std::nullopt;
  int Order = APSInt::compareValues(*P->Number, APSInt::get(C.Number));
  if (C.Order == "==")
    return Order == 0;
  if (C.Order == "!=")
    return Order != 0;
  if (C.Order == "<")
    return Order < 0;
  if (C.Order == "<=")
    return Order <= 0;
  return C.Order == ">" ? Order > 0 : Order >= 0;
}

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
  return Text;
}

Expected<bool> CallFilter::evaluate(lldb::SBFrame Frame, const CallMoment &Call,
                                    StringRef Function) {
  lldb::SBValue V = Frame.EvaluateExpression(Expression.c_str());
  if (V.GetError().Fail()) {
    std::string Why = errorText(V.GetError());
    // A function that lacks a name lacks it at every call.
    if (StringRef(Why).contains("undeclared identifier"))
      return leaveOut(Function, Why);
    return createStringError(
        formatv("cannot evaluate '{0}' at the call of {1} at time {2}: {3}",
                Expression, Function, groupedDigits(Call.Entry), Why));
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
  bool All = true, Sure = !Comparisons.empty();
  for (const Comparison &C : Comparisons) {
    std::optional<bool> Holds = holds(C, *Parameters);
    Sure &= Holds.has_value();
    All &= Holds.value_or(true);
  }
  if (Sure)
    return All;
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
