// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/Comparisons.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace chronicle::values {

/// The name that the text begins with, or nothing.
static StringRef nameIn(StringRef Text) {
  StringRef Name =
      Text.take_while([](char C) { return isAlnum(C) || C == '_'; });
  return Name.empty() || isDigit(Name[0]) ? StringRef() : Name;
}

/// The same for a name with members and elements behind it: this->Next[2].Size.
static StringRef pathIn(StringRef Text) {
  size_t Length = nameIn(Text).size();
  while (Length) {
    StringRef Rest = Text.drop_front(Length);
    size_t More = 0;
    for (StringRef Separator : {"->", "."})
      if (!More && Rest.starts_with(Separator))
        if (size_t Name = nameIn(Rest.drop_front(Separator.size())).size())
          More = Separator.size() + Name;
    if (Rest.starts_with("[")) {
      StringRef Index = Rest.drop_front().take_while(isDigit);
      if (!Index.empty() && Rest.drop_front(1 + Index.size()).starts_with("]"))
        More = Index.size() + 2;
    }
    if (!More)
      break;
    Length += More;
  }
  return Text.take_front(Length);
}

std::optional<Comparisons::Comparison> Comparisons::parseOne(StringRef Text,
                                                             What Compared) {
  const auto In = Compared == What::Paths ? pathIn : nameIn;
  Text = Text.trim();
  StringRef Name = In(Text);
  if (Name.empty())
    return std::nullopt;
  StringRef Rest = Text.drop_front(Name.size()).ltrim();
  for (StringRef Order : {"==", "!=", "<=", ">=", "<", ">"}) {
    if (!Rest.consume_front(Order))
      continue;
    Rest = Rest.trim();
    Comparison Result{Name.str(), Order.str(), "", 0};
    if (!Rest.getAsInteger(0, Result.Number))
      return Result;
    if (Rest.empty() || In(Rest) != Rest)
      return std::nullopt;
    Result.Right = Rest.str();
    return Result;
  }
  return std::nullopt;
}

std::optional<Comparisons> Comparisons::parse(StringRef Text, What Compared) {
  SmallVector<StringRef, 4> Parts;
  Text.split(Parts, "&&");
  Comparisons Result;
  for (StringRef Part : Parts) {
    std::optional<Comparison> C = parseOne(Part, Compared);
    if (!C)
      return std::nullopt;
    Result.All.push_back(std::move(*C));
  }
  return Result;
}

std::optional<bool> Comparisons::holds(const Comparison &C, Values Of) {
  std::optional<APSInt> Left = Of(C.Left);
  std::optional<APSInt> Right =
      C.Right.empty() ? APSInt::get(C.Number) : Of(C.Right);
  if (!Left || !Right)
    return std::nullopt;
  if (Left->isUnsigned() != Right->isUnsigned() &&
      (Left->isNegative() || Right->isNegative()))
    return std::nullopt;
  int Order = APSInt::compareValues(*Left, *Right);
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

std::optional<bool> Comparisons::hold(Values Of) const {
  bool Result = true;
  for (const Comparison &C : All) {
    std::optional<bool> Holds = holds(C, Of);
    if (!Holds)
      return std::nullopt;
    Result &= *Holds;
  }
  return Result;
}

std::vector<StringRef> Comparisons::names() const {
  std::vector<StringRef> Result;
  for (const Comparison &C : All) {
    Result.emplace_back(C.Left);
    if (!C.Right.empty())
      Result.emplace_back(C.Right);
  }
  return Result;
}

} // namespace chronicle::values
