// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/CheckpointedReplay.h"
#include "query/answers/ReplayError.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::state {

/// Instructions between checkpoints.
static constexpr uint64_t CheckpointInterval = 25000;

CheckpointedReplay::CheckpointedReplay(const file::TraceReader &Reader,
                                       program::ProgramCache &Programs,
                                       const replay::ExitTable &Exits)
    : Reader(Reader), Exits(Exits), Pages(Reader), Memory(Pages, 0),
      Replayer(Memory, Programs, Exits) {
  Replayer.OnMismatch = [this](const replay::Mismatch &M) { Last = M; };
}

CheckpointedReplay::~CheckpointedReplay() {
  if (Total)
    *Total -= Counted;
}

uint64_t CheckpointedReplay::bytes() const {
  return sizeof(*this) + Memory.bytes() + Exits.size() * sizeof(void *);
}

void CheckpointedReplay::countIn(std::atomic<uint64_t> &Sum) {
  const uint64_t Size = bytes();
  Sum += Size - Counted;
  Counted = Size;
  Total = &Sum;
}

void CheckpointedReplay::clearHooks() {
  Replayer.Observer = nullptr;
  Replayer.OnEvent = nullptr;
  Replayer.OnSnapshot = nullptr;
  Replayer.setForm(program::ProgramForm::Fast);
}

void CheckpointedReplay::forgetIfBroken() {
  if (!Broken)
    return;
  Memory.reset(0, {});
  History = nullptr;
}

void CheckpointedReplay::restore(std::shared_ptr<BlockHistory> H, size_t I) {
  History = std::move(H);
  const state::Checkpoint &C = History->checkpoint(I);
  Checkpoint = I;
  CheckpointTime = C.Position.Time;
  Broken = false;
  Pages.setStart(*History, I);
  Memory.reset(History->block().Number, C.Shared);
  Replayer.restore(History->block(), C.Position);
}

Error CheckpointedReplay::failed() {
  Broken = true;
  if (Error E = Memory.takeError())
    return createStringError(formatv("memory in block {0} cannot be read: {1}",
                                     History->block().Number,
                                     toString(std::move(E))));
  return make_error<answers::ReplayError>(
      Last.Time,
      formatv("replay of block {0} leaves the recorded run at instruction {1}: "
              "{2}; {3}; 'chronicle verify' lists all mismatches",
              Last.Block, Last.Time, Last.What,
              answers::mismatchAdvice(Reader.run())));
}

Error CheckpointedReplay::advance(Timestamp T) {
  if (!Replayer.runTo(T))
    return failed();
  if (Error E = Memory.takeError()) {
    Broken = true;
    return E;
  }
  return Error::success();
}

void CheckpointedReplay::makeCheckpoint() {
  if (!History->addCheckpoint(Checkpoint, Replayer, Memory) &&
      History->checkpoint(Checkpoint + 1).Position.Execution !=
          Replayer.executions())
    return;
  // It was made here, or another thread made the same one.
  ++Checkpoint;
  CheckpointTime = Replayer.time();
  Memory.clearDirty();
}

/// A checkpoint is made by the first replay that arrives with the writes since
/// the one before. A replay that was overtaken makes none.
Expected<bool> CheckpointedReplay::passCheckpoint(Timestamp T) {
  const Timestamp Place = CheckpointTime + CheckpointInterval;
  if (Checkpoint + 1 != History->checkpoints() ||
      std::min(T, History->endTime()) < Place + LongestSuperblock)
    return false;
  // Small steps may already have gone past the place.
  if (Replayer.time() < Place) {
    if (Error E = advance(Place))
      return E;
    if (!Replayer.finishSuperblock())
      return failed();
  } else if (!Replayer.canSave()) {
    return false;
  }
  makeCheckpoint();
  return true;
}

Error CheckpointedReplay::runTo(Timestamp T) {
  while (true) {
    Expected<bool> Passed = passCheckpoint(T);
    if (!Passed)
      return Passed.takeError();
    if (!*Passed)
      break;
  }
  if (Error E = advance(T))
    return E;
  if (T >= History->endTime() && Checkpoint + 1 == History->checkpoints() &&
      !History->complete())
    makeCheckpoint();
  return Error::success();
}

Error CheckpointedReplay::finishSuperblock() {
  if (!Replayer.finishSuperblock())
    return failed();
  return Error::success();
}

Error CheckpointedReplay::readFrame(FrameNumber Frame, uint8_t *Page) {
  if (const machine::ReplayFrame *F = Memory.find(Frame)) {
    std::memcpy(Page, F->Bytes, PageSize);
    return Error::success();
  }
  const machine::FrameFill *Fill =
      machine::lastFill(Memory.dirtyFills(), Frame);
  Expected<bool> Existed = Fill ? History->readFilled(*Fill, Frame, Page)
                                : History->readFrame(Frame, Checkpoint, Page);
  if (!Existed)
    return Existed.takeError();
  if (!*Existed)
    std::memset(Page, 0, PageSize);
  return Error::success();
}

} // namespace chronicle::state
