// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "indexer/family/ExitNumbers.h"
#include <algorithm>

using namespace llvm;

namespace chronicle::family {

/// Larger than the number of any exit, and no run word of another kind.
static constexpr uint32_t NoExit = CH_RUN_FAULT - 1;

void ExitNumbers::add(uint32_t Recorders, uint32_t Traces, uint32_t Exits) {
  const size_t End = size_t(Recorders) + Exits;
  if (Own.size() < End)
    Own.resize(std::max(End, size_t(Next)));
  if (Recorder.size() < size_t(Traces) + Exits)
    Recorder.resize(size_t(Traces) + Exits);
  for (uint32_t I = 0; I < Exits; ++I) {
    Own[Recorders + I] = Traces + I;
    Recorder[Traces + I] = Recorders + I;
  }
  if (Recorders == Next)
    Next += Exits;
}

uint32_t ExitNumbers::inherit(uint32_t Word, Define New) {
  if (!Word || Word > Inherited.Exits)
    return NoExit;
  if (auto Found = Inherited.From->find(Word))
    New(Found->FirstExit, Found->Definition);
  return Word < Own.size() && Own[Word] ? Own[Word] : NoExit;
}

} // namespace chronicle::family
