// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/DescribedCall.h"

using namespace llvm;

namespace chronicle::values {

void addValues(const CallValues &Values, json::Object &To) {
  if (Values.Parameters) {
    json::Array List;
    for (const Parameter &P : *Values.Parameters)
      List.push_back(toJSON(P));
    To["parameters"] = std::move(List);
    To["parameters-text"] = parametersText(*Values.Parameters);
  }
  To["start"] = Values.Start;
  if (!Values.Result.Value.empty())
    To["value-text"] = Values.Result.Value;
  if (Values.Result.MayBeDropped)
    To["value-unknown"] = true;
}

/// A C++ name without the list of types at its end.
static StringRef withoutArguments(StringRef Name) {
  size_t Close = Name.rfind(')');
  if (Close == StringRef::npos)
    return Name;
  unsigned Depth = 0;
  for (size_t I = Close + 1; I-- > 0;) {
    Depth += Name[I] == ')';
    Depth -= Name[I] == '(';
    if (Depth)
      continue;
    StringRef Bare = Name.take_front(I);
    return Bare.ends_with("operator") ? Name : Bare;
  }
  return Name;
}

std::string fullName(const questions::Place &Place, bool Inlined) {
  if (!Place.Symbol)
    return "?";
  const auto &Frames = Place.Symbol->Frames;
  const std::string &Name =
      Inlined ? Frames.front().Function : Frames.back().Function;
  return Name.empty() ? "?" : Name;
}

std::string functionName(const questions::Place &Place,
                         const target::Style &How, bool Inlined) {
  return How.name(withoutArguments(fullName(Place, Inlined)));
}

} // namespace chronicle::values
