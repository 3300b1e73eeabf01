// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/ThreadHistory.h"
#include "trace-format/events/Events.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle::state {

ThreadHistory::ThreadHistory(const file::TraceReader &Reader) : Reader(Reader) {
  DenseMap<uint32_t, size_t> Places;
  for (const TimelineEvent &E : Reader.timeline()) {
    if (auto S = E.as<events::ThreadStartEvent>()) {
      answers::ThreadInfo Info;
      Info.Number = S->thread;
      Info.Parent = S->parent;
      Info.OsThread = S->os_thread;
      Info.Started = E.Time;
      Places[S->thread] = Threads.size();
      Threads.push_back(Info);
    } else if (auto X = E.as<events::ThreadExitEvent>()) {
      if (auto It = Places.find(X->thread); It != Places.end())
        Threads[It->second].Exited = E.Time;
    }
  }
  llvm::sort(Threads,
             [](const answers::ThreadInfo &A, const answers::ThreadInfo &B) {
               return A.Number < B.Number;
             });
}

const answers::ThreadInfo *ThreadHistory::find(uint32_t Thread) const {
  auto It = partition_point(
      Threads, [&](const answers::ThreadInfo &I) { return I.Number < Thread; });
  return It != Threads.end() && It->Number == Thread ? &*It : nullptr;
}

std::vector<answers::ThreadInfo> ThreadHistory::at(Timestamp T) const {
  std::vector<answers::ThreadInfo> Result;
  for (const answers::ThreadInfo &I : Threads)
    if (I.Started <= T && (!I.Exited || T < *I.Exited))
      Result.push_back(I);
  return Result;
}

std::optional<BlockNumber> ThreadHistory::nextBlock(uint32_t Thread,
                                                    BlockNumber N) const {
  const pieces::ThreadBlocks Of = Reader.blocksOf(Thread);
  const size_t Below = Of.countBelow(N);
  if (Below == Of.size())
    return std::nullopt;
  return Of[Below];
}

std::optional<BlockNumber> ThreadHistory::previousBlock(uint32_t Thread,
                                                        BlockNumber N) const {
  const pieces::ThreadBlocks Of = Reader.blocksOf(Thread);
  const size_t Below = Of.countBelow(N);
  if (!Below)
    return std::nullopt;
  return Of[Below - 1];
}

} // namespace chronicle::state
