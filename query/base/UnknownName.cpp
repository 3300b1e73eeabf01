// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/base/UnknownName.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::base {

StringRef nearestName(StringRef Name, ArrayRef<StringRef> Names,
                      unsigned MostEdits) {
  StringRef Best;
  unsigned BestDistance = MostEdits + 1;
  for (StringRef Known : Names) {
    // 0 would mean any distance.
    const unsigned Interesting = std::max(BestDistance, 1u);
    unsigned Distance =
        Name.edit_distance(Known, /*AllowReplacements=*/true, Interesting);
    if (Distance < BestDistance) {
      BestDistance = Distance;
      Best = Known;
    }
  }
  return Best;
}

std::string unknownName(StringRef Kind, StringRef Name,
                        ArrayRef<StringRef> Names, StringRef Otherwise) {
  StringRef Best = nearestName(Name, Names, Name.size() / 2);
  std::string Text = formatv("unknown {0} '{1}'", Kind, Name);
  if (!Best.empty())
    return formatv("{0}; did you mean '{1}'?", Text, Best);
  return Otherwise.empty() ? Text : Text + "; " + Otherwise.str();
}

} // namespace chronicle::base
