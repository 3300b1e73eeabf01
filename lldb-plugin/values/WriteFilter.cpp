// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/values/WriteFilter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::values {

Expected<WriteFilter> WriteFilter::parse(StringRef Text) {
  WriteFilter Result;
  if (Text.trim().empty())
    return Result;
  Result.Where = Comparisons::parse(Text);
  if (!Result.Where || any_of(Result.Where->names(), [](StringRef Name) {
        return Name != "old" && Name != "new";
      }))
    return createStringError(
        formatv("invalid --where '{0}': compare old and new with whole numbers "
                "or with each other, for example 'new < 0 && old >= 0'",
                Text));
  return Result;
}

Expected<bool> WriteFilter::wants(Value Old, Value New) const {
  if (empty())
    return true;
  std::optional<APSInt> Before, After;
  for (StringRef Name : Where->names()) {
    std::optional<APSInt> &Known = Name == "old" ? Before : After;
    if (Known)
      continue;
    if (Error E = (Name == "old" ? Old() : New()).moveInto(Known))
      return E;
    if (!Known)
      return false;
  }
  std::optional<bool> Result = Where->hold(
      [&](StringRef Name) { return Name == "old" ? Before : After; });
  if (!Result)
    return createStringError("the value is unsigned, and --where compares it "
                             "with a negative number");
  return *Result;
}

} // namespace chronicle::values
