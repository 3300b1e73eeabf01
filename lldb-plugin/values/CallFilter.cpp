// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/CallFilter.h"
#include "lldb-plugin/values/ValueText.h"
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

CallFilter::CallFilter(StringRef Expression) : Expression(Expression.trim()) {
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

template <class Number>
static bool compare(StringRef Order, Number A, Number B) {
  if (Order == "==")
    return A == B;
  if (Order == "!=")
    return A != B;
  if (Order == "<")
    return A < B;
  if (Order == "<=")
    return A <= B;
  return Order == ">" ? A > B : A >= B;
}

std::optional<bool> CallFilter::holds(const Comparison &C,
                                      lldb::SBFrame Frame) {
  lldb::SBValue V = Frame.FindVariable(C.Name.c_str());
  if (!V.IsValid() || V.GetError().Fail())
    return std::nullopt;
  lldb::SBType Type = V.GetType().GetCanonicalType();
  lldb::SBError Failed;
  switch (Type.GetBasicType()) {
  case lldb::eBasicTypeChar:
  case lldb::eBasicTypeSignedChar:
  case lldb::eBasicTypeShort:
  case lldb::eBasicTypeInt:
  case lldb::eBasicTypeLong:
  case lldb::eBasicTypeLongLong: {
    int64_t Value = V.GetValueAsSigned(Failed);
    if (Failed.Fail())
      return std::nullopt;
    return compare(C.Order, Value, C.Number);
  }
  case lldb::eBasicTypeUnsignedChar:
  case lldb::eBasicTypeUnsignedShort:
  case lldb::eBasicTypeBool: {
    // Promoted to int, so that a negative number stays negative.
    int64_t Value = int64_t(V.GetValueAsUnsigned(Failed));
    if (Failed.Fail())
      return std::nullopt;
    return compare(C.Order, Value, C.Number);
  }
  case lldb::eBasicTypeUnsignedInt:
  case lldb::eBasicTypeUnsignedLong:
  case lldb::eBasicTypeUnsignedLongLong: {
    uint64_t Value = V.GetValueAsUnsigned(Failed);
    // In C the negative number would become a large one.
    if (Failed.Fail() || C.Number < 0)
      return std::nullopt;
    return compare(C.Order, Value, uint64_t(C.Number));
  }
  default:
    return std::nullopt;
  }
}

Expected<bool> CallFilter::wants(lldb::SBFrame Frame) const {
  if (empty())
    return true;
  bool All = true, Sure = isSimple();
  for (const Comparison &C : Comparisons) {
    std::optional<bool> Holds = holds(C, Frame);
    Sure &= Holds.has_value();
    All &= Holds.value_or(true);
  }
  if (Sure)
    return All;
  lldb::SBValue V = Frame.EvaluateExpression(Expression.c_str());
  if (V.GetError().Fail()) {
    return createStringError(
        formatv("cannot evaluate '{0}' at a call of {1}: {2}", Expression,
                Frame.GetDisplayFunctionName(), errorText(V.GetError())));
  }
  lldb::SBError Failed;
  bool Result = V.GetValueAsUnsigned(Failed) != 0;
  if (Failed.Fail())
    return createStringError(formatv(
        "'{0}' is not a condition: it is neither true nor false", Expression));
  return Result;
}

} // namespace chronicle::values
