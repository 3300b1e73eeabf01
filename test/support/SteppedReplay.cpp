// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/support/SteppedReplay.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle {

SteppedReplay::SteppedReplay(const file::TraceReader &Trace)
    : Trace(Trace), Pages(Trace), Memory(Pages, 0),
      Programs(Trace.superblockCount(),
               [&Trace](uint32_t Id) { return Trace.definition(Id).Bytes; }),
      Exits(Trace), Replayer(Memory, Programs, Exits) {
  Replayer.OnMismatch = [this](const replay::Mismatch &M) {
    failed("replay: " + M.What);
  };
  Replayer.OnEvent = [this](const Event &E, Timestamp T) { event(E, T); };
}

SteppedReplay::~SteppedReplay() = default;

bool SteppedReplay::stepThrough() {
  for (BlockNumber N = 0; N < Trace.blocks().size(); ++N) {
    Expected<Block> B = Trace.readBlock(N);
    if (!B) {
      failed(toString(B.takeError()));
      return false;
    }
    startBlock(*B);
    Replayer.start(*B);
    for (Timestamp T = B->First;; ++T) {
      beforeStep(T, *B);
      if (!Replayer.runTo(T) || !afterStep(T, *B))
        return false;
      if (isEnd(T, *B))
        break;
    }
    endBlock(*B);
  }
  return true;
}

uint64_t SteppedReplay::wordAt(const uint8_t *State, unsigned Offset) {
  return support::endian::read64le(State + Offset);
}

} // namespace chronicle
