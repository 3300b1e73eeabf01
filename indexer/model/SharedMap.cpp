// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/model/SharedMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace chronicle::model {

FrameNumber SharedMap::find(uint64_t Page) const {
  auto It =
      partition_point(Ranges, [&](const Range &R) { return R.Last < Page; });
  return It != Ranges.end() && It->First <= Page
             ? It->Frame + (Page - It->First)
             : Page;
}

void SharedMap::unmap(uint64_t First, uint64_t Last) {
  auto From =
      partition_point(Ranges, [&](const Range &R) { return R.Last < First; });
  auto To = std::find_if(From, Ranges.end(),
                         [&](const Range &R) { return R.First > Last; });
  if (From == To)
    return;
  // Parts of the outermost ranges are left.
  SmallVector<Range, 2> Left;
  if (From->First < First)
    Left.push_back({From->First, First - 1, From->Frame});
  if (const Range &R = *std::prev(To); R.Last > Last)
    Left.push_back({Last + 1, R.Last, R.Frame + (Last + 1 - R.First)});
  auto At = Ranges.erase(From, To);
  Ranges.insert(At, Left.begin(), Left.end());
}

void SharedMap::map(const Range &R) {
  unmap(R.First, R.Last);
  auto At = partition_point(
      Ranges, [&](const Range &Other) { return Other.First < R.First; });
  Ranges.insert(At, R);
}

} // namespace chronicle::model
