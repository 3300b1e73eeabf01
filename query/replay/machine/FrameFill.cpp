// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/replay/machine/FrameFill.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::machine {

const FrameFill *lastFill(ArrayRef<FrameFill> Fills, FrameNumber Number) {
  auto Last =
      find_if(reverse(Fills), [&](auto &F) { return F.covers(Number); });
  return Last == Fills.rend() ? nullptr : &*Last;
}

} // namespace chronicle::machine
