// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/UnknownName.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::base {

std::string unknownName(StringRef Kind, StringRef Name,
                        ArrayRef<StringRef> Names, StringRef Otherwise) {
  StringRef Best;
  unsigned BestDistance = Name.size() / 2 + 1;
  for (StringRef Known : Names) {
    unsigned Distance = Name.edit_distance(Known);
    if (Distance < BestDistance) {
      BestDistance = Distance;
      Best = Known;
    }
  }
  std::string Text = formatv("unknown {0} '{1}'", Kind, Name);
  if (!Best.empty())
    return formatv("{0}; did you mean '{1}'?", Text, Best);
  return Otherwise.empty() ? Text : Text + "; " + Otherwise.str();
}

} // namespace chronicle::base
