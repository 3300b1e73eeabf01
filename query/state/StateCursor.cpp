// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/StateCursor.h"
#include "query/state/StateCache.h"

using namespace llvm;

namespace chronicle::state {

StateCursor::StateCursor(StateCache &Cache,
                         std::unique_ptr<CheckpointedReplay> Replay)
    : Cache(&Cache), Replay(std::move(Replay)) {}
StateCursor::StateCursor(StateCursor &&) = default;
StateCursor::~StateCursor() {
  if (Replay)
    Cache->giveBack(std::move(Replay));
}

const Block &StateCursor::block() const { return Replay->history()->block(); }
BlockHistory &StateCursor::history() const { return *Replay->history(); }
replay::BlockReplayer &StateCursor::replayer() { return Replay->replayer(); }
machine::ReplayMemory &StateCursor::memory() { return Replay->memory(); }
Timestamp StateCursor::time() const { return Replay->replayer().time(); }
Error StateCursor::runTo(Timestamp T) { return Replay->runTo(T); }
Expected<bool> StateCursor::passCheckpoint(Timestamp T) {
  return Replay->passCheckpoint(T);
}
Error StateCursor::finishSuperblock() { return Replay->finishSuperblock(); }

Error StateCursor::readFrame(FrameNumber Frame, uint8_t *Page) {
  return Replay->readFrame(Frame, Page);
}

Error StateCursor::read(uint64_t Address, MutableArrayRef<uint8_t> Into) {
  uint8_t Page[PageSize];
  while (!Into.empty()) {
    const uint64_t Offset = Address % PageSize;
    const size_t Part = std::min<uint64_t>(Into.size(), PageSize - Offset);
    if (Error E = readFrame(memory().frameAt(Address), Page))
      return E;
    std::memcpy(Into.data(), Page + Offset, Part);
    Address += Part;
    Into = Into.drop_front(Part);
  }
  return Error::success();
}

} // namespace chronicle::state
