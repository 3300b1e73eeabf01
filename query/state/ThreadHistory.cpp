// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "query/state/ThreadHistory.h"
#include "query/answers/RunEnd.h"
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
      // After the signal that killed the program, threads end because of it.
      if (auto It = Places.find(X->thread); It != Places.end() && !Killed)
        Threads[It->second].Exited = E.Time;
    } else if (auto Signal = E.as<events::SignalEvent>()) {
      if (Signal->flags & CH_SIG_FATAL)
        Killed = Signal->thread;
    }
  }
  keepAliveAtEnd();
  llvm::sort(Threads,
             [](const answers::ThreadInfo &A, const answers::ThreadInfo &B) {
               return A.Number < B.Number;
             });
}

/// Whether a program that ends so takes its threads with it, one by one, in the
/// recorder's eyes. Otherwise the recording just stops, and a thread that ended
/// at that moment did so by itself.
static bool endsThreads(answers::RunEnd::Kind How) {
  return How == answers::RunEnd::Kind::Exit ||
         How == answers::RunEnd::Kind::Signal ||
         How == answers::RunEnd::Kind::Exec;
}

/// Makes the threads alive that ended at the end of the run because the program
/// did. One instruction ends the program (exit_group, the exit of the last
/// thread, execve, a kill of itself), and no thread can end by itself between
/// that and the end. A fatal signal may come at any time, but has an event.
void ThreadHistory::keepAliveAtEnd() {
  const Timestamp End = Reader.instructions();
  const bool SomeAlive =
      any_of(Threads, [](const answers::ThreadInfo &I) { return !I.Exited; });
  const bool Ends = endsThreads(answers::RunEnd::of(Reader.end()).How);
  // A program without threads is none, whatever the trace says about its end.
  if (SomeAlive && (Killed || !Ends))
    return;
  for (answers::ThreadInfo &I : Threads)
    if (I.Exited == End)
      I.Exited.reset();
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
