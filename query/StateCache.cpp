// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/StateCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle {

/// Instructions between checkpoints.
static constexpr uint64_t CheckpointInterval = 25000;
static constexpr size_t MaxIdle = 8;

struct StateCursor::Engine {
  Engine(StateCache &Cache)
      : Pages(Cache.reader()), Memory(Pages, 0),
        Replayer(Memory, Cache.programs(), Cache.exits()) {
    Replayer.OnMismatch = [this](const Mismatch &M) { Last = M; };
  }
  ~Engine() {
    if (Total)
      *Total -= Counted;
  }

  void restore(std::shared_ptr<BlockHistory> H, size_t Checkpoint);
  Expected<bool> passCheckpoint(Timestamp T);
  Error runTo(Timestamp T);
  Error advance(Timestamp T);
  void makeCheckpoint();
  Error failed();
  uint64_t bytes() const {
    return sizeof(*this) + Memory.bytes() + Exits * sizeof(void *);
  }

  HistoryPages Pages;
  ReplayMemory Memory;
  BlockReplayer Replayer;
  std::shared_ptr<BlockHistory> History;
  /// The checkpoint that Memory's dirty granules count from.
  size_t Checkpoint = 0;
  Timestamp CheckpointTime = 0;
  bool Broken = false;
  Mismatch Last;
  uint64_t Exits = 0;
  uint64_t Counted = 0;
  std::atomic<uint64_t> *Total = nullptr;
};

void StateCursor::Engine::restore(std::shared_ptr<BlockHistory> H, size_t I) {
  History = std::move(H);
  const chronicle::Checkpoint &C = History->checkpoint(I);
  Checkpoint = I;
  CheckpointTime = C.Position.Time;
  Broken = false;
  Pages.setStart(*History, I);
  Memory.reset(History->block().Number, C.Shared);
  Replayer.restore(History->block(), C.Position);
}

Error StateCursor::Engine::failed() {
  Broken = true;
  if (Error E = Memory.takeError())
    return createStringError(formatv("memory in block {0} cannot be read: {1}",
                                     History->block().Number,
                                     toString(std::move(E))));
  return createStringError(
      formatv("replay of block {0} leaves the recorded run at instruction {1}: "
              "{2}; 'chronicle verify' says what else is wrong with the trace",
              Last.Block, Last.Time, Last.What));
}

Error StateCursor::Engine::advance(Timestamp T) {
  if (!Replayer.runTo(T))
    return failed();
  if (Error E = Memory.takeError()) {
    Broken = true;
    return E;
  }
  return Error::success();
}

void StateCursor::Engine::makeCheckpoint() {
  if (!History->addCheckpoint(Checkpoint, Replayer, Memory) &&
      History->checkpoint(Checkpoint + 1).Position.Execution !=
          Replayer.executions())
    return;
  // Made, or somebody else made the same one.
  ++Checkpoint;
  CheckpointTime = Replayer.time();
  Memory.clearDirty();
}

/// Checkpoints are made by whoever comes along first with the writes since the
/// one before; a replay that somebody overtook makes none.
Expected<bool> StateCursor::Engine::passCheckpoint(Timestamp T) {
  const Timestamp Place = CheckpointTime + CheckpointInterval;
  if (Checkpoint + 1 != History->checkpoints() ||
      std::min(T, History->endTime()) < Place + LongestSuperblock)
    return false;
  // Small steps may have gone past the place already.
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

Error StateCursor::Engine::runTo(Timestamp T) {
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

StateCursor::StateCursor(StateCache &Cache, std::unique_ptr<Engine> E)
    : Cache(&Cache), E(std::move(E)) {}
StateCursor::StateCursor(StateCursor &&) = default;
StateCursor::~StateCursor() {
  if (E)
    Cache->giveBack(std::move(E));
}

const Block &StateCursor::block() const { return E->History->block(); }
BlockHistory &StateCursor::history() const { return *E->History; }
BlockReplayer &StateCursor::replayer() { return E->Replayer; }
ReplayMemory &StateCursor::memory() { return E->Memory; }
Timestamp StateCursor::time() const { return E->Replayer.time(); }
Error StateCursor::runTo(Timestamp T) { return E->runTo(T); }
Expected<bool> StateCursor::passCheckpoint(Timestamp T) {
  return E->passCheckpoint(T);
}

Error StateCursor::finishSuperblock() {
  if (!E->Replayer.finishSuperblock())
    return E->failed();
  return Error::success();
}

Error StateCursor::readFrame(FrameNumber Frame, uint8_t *Page) {
  if (const ReplayFrame *F = E->Memory.find(Frame)) {
    std::memcpy(Page, F->Bytes, PageSize);
    return Error::success();
  }
  const FrameFill *Fill = lastFill(E->Memory.dirtyFills(), Frame);
  Expected<bool> Existed =
      Fill ? E->History->readFilled(*Fill, Frame, Page)
           : E->History->readFrame(Frame, E->Checkpoint, Page);
  if (!Existed)
    return Existed.takeError();
  if (!*Existed)
    std::memset(Page, 0, PageSize);
  return Error::success();
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

StateCache::StateCache(const TraceReader &Reader, uint64_t Bytes)
    : Reader(Reader), Budget(Bytes), Exits(Reader), Programs(Reader),
      Maps(Reader), Threads(Reader), Summaries(Reader.pageChunks()) {}

StateCache::~StateCache() {
  // They count in Total until they are gone.
  Idle.clear();
  Histories.clear();
  Recent.clear();
}

Expected<std::shared_ptr<BlockHistory>> StateCache::history(BlockNumber N) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto It = Histories.find(N);
    if (It != Histories.end()) {
      Recent.splice(Recent.end(), Recent, It->second);
      return *It->second;
    }
  }
  Expected<Block> B = Reader.readBlock(N);
  if (!B)
    return B.takeError();
  auto H = std::make_shared<BlockHistory>(Reader, std::move(*B),
                                          Maps.sharedAt(N), Total);
  std::lock_guard<std::mutex> Guard(Lock);
  auto [It, New] = Histories.try_emplace(N);
  if (New)
    It->second = Recent.insert(Recent.end(), std::move(H));
  std::shared_ptr<BlockHistory> Result = *It->second;
  trim();
  return Result;
}

Expected<std::shared_ptr<const Block>> StateCache::block(BlockNumber N) {
  Expected<std::shared_ptr<BlockHistory>> H = history(N);
  if (!H)
    return H.takeError();
  return std::shared_ptr<const Block>(*H, &(*H)->block());
}

/// With the lock held.
void StateCache::trim() {
  auto TrimHistories = [&] {
    for (auto It = Recent.begin(); It != Recent.end() && Total > Budget;) {
      if (It->use_count() > 1) {
        ++It;
        continue;
      }
      Histories.erase((*It)->block().Number);
      It = Recent.erase(It);
    }
  };
  TrimHistories();
  while (Total > Budget && Idle.size() > 1) {
    Idle.erase(Idle.begin());
    TrimHistories();
  }
}

std::unique_ptr<StateCache::Engine> StateCache::takeIdle() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Idle.size() >= MaxIdle ||
        (!Idle.empty() && Total + Idle.front()->Counted > Budget)) {
      std::unique_ptr<Engine> E = std::move(Idle.front());
      Idle.erase(Idle.begin());
      return E;
    }
  }
  auto E = std::make_unique<Engine>(*this);
  E->Exits = Exits.size();
  return E;
}

void StateCache::giveBack(std::unique_ptr<Engine> E) {
  E->Replayer.Observer = nullptr;
  E->Replayer.OnEvent = nullptr;
  E->Replayer.OnSnapshot = nullptr;
  if (E->Broken) {
    // What it was replaying is meaningless from here on.
    E->Memory.reset(0, {});
    E->History = nullptr;
  }
  std::lock_guard<std::mutex> Guard(Lock);
  const uint64_t Size = E->bytes();
  Total += Size - E->Counted;
  E->Counted = Size;
  E->Total = &Total;
  Idle.push_back(std::move(E));
  if (Idle.size() > MaxIdle)
    Idle.erase(Idle.begin());
  trim();
}

Expected<StateCursor> StateCache::atCheckpoint(std::shared_ptr<BlockHistory> H,
                                               size_t Checkpoint) {
  std::unique_ptr<Engine> E = takeIdle();
  E->restore(std::move(H), Checkpoint);
  return StateCursor(*this, std::move(E));
}

Expected<StateCursor> StateCache::atBlock(BlockNumber N) {
  Expected<std::shared_ptr<BlockHistory>> H = history(N);
  if (!H)
    return H.takeError();
  return atCheckpoint(std::move(*H), 0);
}

Expected<StateCursor> StateCache::in(BlockNumber N, Timestamp T) {
  Expected<std::shared_ptr<BlockHistory>> H = history(N);
  if (!H)
    return H.takeError();
  const size_t Nearest = (*H)->checkpointBefore(T);
  std::unique_ptr<Engine> E;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto Best = Idle.end();
    Timestamp BestTime = (*H)->checkpoint(Nearest).Position.Time;
    for (auto It = Idle.begin(); It != Idle.end(); ++It) {
      const Timestamp Time = (*It)->Replayer.time();
      if ((*It)->History == *H && Time <= T && Time >= BestTime) {
        Best = It;
        BestTime = Time;
      }
    }
    if (Best != Idle.end()) {
      E = std::move(*Best);
      Idle.erase(Best);
    }
  }
  if (!E) {
    E = takeIdle();
    E->restore(std::move(*H), Nearest);
  }
  if (Error Failed = E->runTo(T)) {
    giveBack(std::move(E));
    return Failed;
  }
  return StateCursor(*this, std::move(E));
}

Expected<StateCursor> StateCache::at(Timestamp T) {
  if (T > Reader.instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no instruction {1}",
                Reader.instructions(), T));
  return in(Reader.blockAt(T), T);
}

} // namespace chronicle
