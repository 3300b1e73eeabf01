// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/ThreadHistory.h"
#include "query/Values.h"
#include "trace-format/Stream.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace chronicle {

ThreadHistory::ThreadHistory(const TraceReader &Reader) : Reader(Reader) {
  DenseMap<uint32_t, size_t> Places;
  for (const TimelineEvent &E : Reader.timeline()) {
    if (E.Kind == CH_EV_THREAD_START &&
        E.Payload.size() >= sizeof(ch_ev_thread_start)) {
      auto S = loadValue<ch_ev_thread_start>(E.Payload.data());
      ThreadInfo Info;
      Info.Number = S.thread;
      Info.Parent = S.parent;
      Info.OsThread = S.os_thread;
      Info.Started = E.Time;
      Places[S.thread] = Threads.size();
      Threads.push_back(Info);
    } else if (E.Kind == CH_EV_THREAD_EXIT &&
               E.Payload.size() >= sizeof(ch_ev_thread)) {
      auto X = loadValue<ch_ev_thread>(E.Payload.data());
      if (auto It = Places.find(X.thread); It != Places.end())
        Threads[It->second].Exited = E.Time;
    }
  }
  llvm::sort(Threads, [](const ThreadInfo &A, const ThreadInfo &B) {
    return A.Number < B.Number;
  });
}

const ThreadInfo *ThreadHistory::find(uint32_t Thread) const {
  auto It = partition_point(
      Threads, [&](const ThreadInfo &I) { return I.Number < Thread; });
  return It != Threads.end() && It->Number == Thread ? &*It : nullptr;
}

std::vector<ThreadInfo> ThreadHistory::at(Timestamp T) const {
  std::vector<ThreadInfo> Result;
  for (const ThreadInfo &I : Threads)
    if (I.Started <= T && (!I.Exited || T < *I.Exited))
      Result.push_back(I);
  return Result;
}

std::optional<BlockNumber> ThreadHistory::nextBlock(uint32_t Thread,
                                                    BlockNumber N) const {
  const ThreadBlocks Of = Reader.blocksOf(Thread);
  const size_t Below = Of.countBelow(N);
  if (Below == Of.size())
    return std::nullopt;
  return Of[Below];
}

std::optional<BlockNumber> ThreadHistory::previousBlock(uint32_t Thread,
                                                        BlockNumber N) const {
  const ThreadBlocks Of = Reader.blocksOf(Thread);
  const size_t Below = Of.countBelow(N);
  if (!Below)
    return std::nullopt;
  return Of[Below - 1];
}

} // namespace chronicle
