// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/passes/Pass.h"
#include "query/passes/PassWorker.h"
#include <mutex>
#include <thread>

using namespace llvm;

namespace chronicle::passes {

BlockObserver::~BlockObserver() = default;
Pass::~Pass() = default;

namespace {

/// Blocks that one thread replays in a row, and what their observers saw.
struct Range {
  BlockNumber First, End;
  std::vector<std::unique_ptr<BlockObserver>> Seen;
  bool Complete = false;
};

/// One run of runPass(): threads take ranges in order, and a range is delivered
/// when all ranges before it are.
class Run {
public:
  Run(const file::TraceReader &Trace, Pass &P, const PassOptions &Options)
      : Trace(Trace), P(P), Options(Options), Shared(Trace, P.needs()) {}
  Error run();

private:
  void split(unsigned Threads);
  void work();
  Error replay(Range &R);
  void deliver(std::unique_lock<std::mutex> &Guard);
  bool stopped() const {
    return Failed || (Options.Cancel && Options.Cancel->Cancelled);
  }

  const file::TraceReader &Trace;
  Pass &P;
  const PassOptions &Options;
  SharedReplay Shared;
  uint64_t BytesPerThread = 0;
  std::vector<Range> Ranges;
  std::atomic<size_t> NextRange = 0;
  std::atomic<uint64_t> Instructions = 0;
  std::atomic<bool> Failed = false;
  std::mutex Lock; ///< for what follows, and Range::Complete
  size_t NextDelivery = 0;
  bool Delivering = false;
  std::string Problem;
};

} // namespace

/// Long ranges, because each begins with reading pages; but several per thread.
void Run::split(unsigned Threads) {
  const BlockNumber End =
      std::min<uint64_t>(Options.End, Trace.blocks().size());
  if (Options.First >= End)
    return;
  constexpr uint64_t Longest = 256;
  const uint64_t Blocks = End - Options.First;
  const uint64_t Length =
      std::clamp<uint64_t>(Blocks / (4 * uint64_t(Threads)), 1, Longest);
  for (uint64_t I = 0; I < Blocks; I += Length)
    Ranges.push_back({BlockNumber(Options.First + I),
                      BlockNumber(Options.First + std::min(I + Length, Blocks)),
                      {}});
}

Error Run::replay(Range &R) {
  auto Worker = std::make_unique<PassWorker>(Shared, R.First, BytesPerThread);
  bool Skipped = false;
  for (BlockNumber N = R.First; N < R.End && !stopped(); ++N) {
    Expected<Block> B = Trace.readBlock(N);
    if (!B)
      return B.takeError();
    std::unique_ptr<BlockObserver> Observer = P.start(*B);
    if (Observer) {
      if (std::exchange(Skipped, false))
        Worker->skipTo(N);
      if (Error E = Worker->replay(N, *B, *Observer))
        return E;
    } else {
      Skipped = true;
    }
    R.Seen.push_back(std::move(Observer));
    const uint64_t Done = Instructions += B->Instructions;
    if (Options.Progress)
      Options.Progress(Done);
  }
  return Error::success();
}

/// Delivers what can be delivered, unless another thread is doing that.
void Run::deliver(std::unique_lock<std::mutex> &Guard) {
  if (Delivering)
    return;
  Delivering = true;
  while (NextDelivery < Ranges.size() && Ranges[NextDelivery].Complete &&
         !Failed) {
    Range &R = Ranges[NextDelivery++];
    Guard.unlock();
    std::string Why;
    for (size_t I = 0; I < R.Seen.size() && Why.empty(); ++I)
      if (Error E = P.deliver(BlockNumber(R.First + I), std::move(R.Seen[I])))
        Why = toString(std::move(E));
    R.Seen.clear();
    Guard.lock();
    if (!Why.empty()) {
      Failed = true;
      Problem = Why;
    }
    // A range that was cut short is the last one.
    if (Options.Cancel && Options.Cancel->Cancelled)
      break;
  }
  Delivering = false;
}

void Run::work() {
  for (size_t I; !stopped() && (I = NextRange++) < Ranges.size();) {
    Range &R = Ranges[I];
    Error E = replay(R);
    std::unique_lock<std::mutex> Guard(Lock);
    if (E) {
      Failed = true;
      std::string Why = toString(std::move(E));
      if (Problem.empty())
        Problem = Why;
      return;
    }
    R.Complete = R.Seen.size() == R.End - R.First;
    deliver(Guard);
  }
}

Error Run::run() {
  unsigned Threads = Options.Threads
                         ? Options.Threads
                         : std::max(1u, std::thread::hardware_concurrency());
  split(Threads);
  Threads = static_cast<unsigned>(
      std::min<size_t>(Threads, std::max<size_t>(1, Ranges.size())));
  BytesPerThread = Options.MemoryBytes / Threads;
  std::vector<std::thread> Workers;
  for (unsigned I = 1; I < Threads; ++I)
    Workers.emplace_back([this] { work(); });
  work();
  for (std::thread &T : Workers)
    T.join();
  if (Failed)
    return createStringError(Problem);
  return Error::success();
}

Error runPass(const file::TraceReader &Trace, Pass &P,
              const PassOptions &Options) {
  return Run(Trace, P, Options).run();
}

} // namespace chronicle::passes
