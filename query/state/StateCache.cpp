// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/StateCache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace chronicle::state {

/// How many replays are kept for later questions.
static constexpr size_t MaxIdle = 8;

StateCache::StateCache(const file::TraceReader &Reader, uint64_t Bytes)
    : Reader(Reader), Budget(Bytes), Exits(Reader), Programs(Reader),
      Maps(Reader), Threads(Reader), Summaries(Reader.pageChunks()),
      Pieces(Reader) {}

StateCache::~StateCache() {
  // They subtract their sizes from Total, so they must go before it.
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

/// The caller holds the lock.
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

std::unique_ptr<CheckpointedReplay> StateCache::takeIdle() {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Idle.size() >= MaxIdle ||
        (!Idle.empty() && Total + Idle.front()->counted() > Budget)) {
      std::unique_ptr<CheckpointedReplay> Replay = std::move(Idle.front());
      Idle.erase(Idle.begin());
      return Replay;
    }
  }
  return std::make_unique<CheckpointedReplay>(Reader, Programs, Exits);
}

void StateCache::giveBack(std::unique_ptr<CheckpointedReplay> Replay) {
  Replay->clearHooks();
  Replay->forgetIfBroken();
  std::lock_guard<std::mutex> Guard(Lock);
  Replay->countIn(Total);
  Idle.push_back(std::move(Replay));
  if (Idle.size() > MaxIdle)
    Idle.erase(Idle.begin());
  trim();
}

Expected<StateCursor> StateCache::atCheckpoint(std::shared_ptr<BlockHistory> H,
                                               size_t Checkpoint) {
  std::unique_ptr<CheckpointedReplay> Replay = takeIdle();
  Replay->restore(std::move(H), Checkpoint);
  return StateCursor(*this, std::move(Replay));
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
  std::unique_ptr<CheckpointedReplay> Replay;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto Best = Idle.end();
    Timestamp BestTime = (*H)->checkpoint(Nearest).Position.Time;
    for (auto It = Idle.begin(); It != Idle.end(); ++It) {
      const Timestamp Time = (*It)->replayer().time();
      if ((*It)->history() == *H && Time <= T && Time >= BestTime) {
        Best = It;
        BestTime = Time;
      }
    }
    if (Best != Idle.end()) {
      Replay = std::move(*Best);
      Idle.erase(Best);
    }
  }
  if (!Replay) {
    Replay = takeIdle();
    Replay->restore(std::move(*H), Nearest);
  }
  if (Error Failed = Replay->runTo(T)) {
    giveBack(std::move(Replay));
    return Failed;
  }
  return StateCursor(*this, std::move(Replay));
}

Expected<StateCursor> StateCache::at(Timestamp T) {
  if (T > Reader.instructions())
    return createStringError(
        formatv("the run ends at {0}; there is no instruction {1}",
                Reader.instructions(), T));
  return in(Reader.blockAt(T), T);
}

} // namespace chronicle::state
