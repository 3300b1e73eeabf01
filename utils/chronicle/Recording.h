// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A recording under way.

#ifndef CHRONICLE_UTILS_CHRONICLE_RECORDING_H
#define CHRONICLE_UTILS_CHRONICLE_RECORDING_H

#include "indexer/Indexer.h"
#include "recorder/cache/TranslationCache.h"
#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/SharedRing.h"
#include "recorder/launch/Supervisor.h"
#include "trace-format/Thread.h"
#include "utils/chronicle/RecordReport.h"
#include "utils/chronicle/recording/CrashPlace.h"
#include "utils/chronicle/recording/ProgramFiles.h"
#include "utils/chronicle/tree/ProcessTree.h"
#include "utils/chronicle/tree/RunFiles.h"
#include <atomic>
#include <sys/resource.h>

namespace chronicle::cli {

/// Runs the indexer in a thread, and connects the supervisor to it and to the
/// terminal.
class Recording : public launch::SupervisorClient {
public:
  /// Tree is null if the program's processes are not followed.
  Recording(indexer::Indexer &Index, tree::ProcessTree *Tree)
      : Index(Index), Tree(Tree) {}
  ~Recording() override {
    if (Indexing.joinable())
      join();
  }

  /// To be called before the program starts, since threads may be scarce.
  llvm::Error start() {
    if (Tree)
      if (llvm::Error E = Tree->prepare())
        return E;
    return Thread::start([this] {
             Index.run();
             IndexerDone = true;
           })
        .moveInto(Indexing);
  }

  /// Waits for the indexer. The recorder's process must have ended.
  void join() {
    Index.recorderGone();
    Indexing.join();
  }

  /// After the program has ended: waits for the processes that it started, and
  /// notes what was recorded of them. A signal to this process ends them.
  void waitForOthers(launch::Supervisor &Supervisor,
                     std::chrono::milliseconds Interval, RecordResult &Result) {
    if (!Tree)
      return;
    if (Result.End.Interrupted || Result.End.TimedOut ||
        !Supervisor.waitForOthers(*this, Tree->done(), Interval))
      Tree->kill();
    Tree->wait();
    Display.clear();
    Result.Others = std::move(Tree->Results);
    Result.Unrecorded = std::move(Tree->Unrecorded);
  }

  void tick() override {
    indexer::IndexerProgress Total;
    const indexer::IndexerProgress &Own = Index.progress();
    Total.Instructions += Own.Instructions;
    Total.Outputs += Own.Outputs;
    Total.FileBytes += Own.FileBytes;
    if (Tree)
      Tree->addProgress(Total);
    Display.update(Total, Hint);
  }
  void interrupted() override {
    Hint = "press Ctrl-C again to end the recording";
  }
  void endRecording() override {
    Hint = "ending";
    Index.requestStop();
    if (Tree)
      Tree->requestStop();
  }
  bool recordingEnded() override { return IndexerDone; }
  void suspending() override { Display.clear(); }

  RecordDisplay Display;

private:
  indexer::Indexer &Index;
  tree::ProcessTree *Tree;
  llvm::StringRef Hint;
  std::atomic<bool> IndexerDone{false};
  Thread Indexing;
};

/// Runs the program to its end and fills in the result, except for the index.
inline llvm::Error runProgram(launch::Supervisor &Supervisor,
                              const launch::RecorderCommand &Command,
                              const launch::SharedRing &Ring,
                              indexer::Indexer &Index, launch::RecorderLog &Log,
                              tree::ProcessTree *Tree,
                              cache::TranslationCache *Cache, bool Quiet,
                              RecordResult &Result) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point Start = Clock::now();
  Recording Running(Index, Tree);
  if (llvm::Error E = Running.start())
    return E;
  if (llvm::Error E = Supervisor.start(Command))
    return E;
  if (Cache && !Tree)
    Cache->closeFiles();
  if (Tree)
    Tree->start(Supervisor.process(), Index);
  const bool Live = !Quiet && Running.Display.enabled();
  const std::chrono::milliseconds Interval(Live ? 200 : 0);
  Result.Process = Supervisor.process();
  Result.End = Supervisor.wait(Running, Interval);
  Result.Seconds = std::chrono::duration<double>(Clock::now() - Start).count();
  Result.FirstSeconds = Result.Seconds;
  if (Tree && Tree->firstReplaced())
    Result.FirstSeconds =
        std::chrono::duration<double>(*Tree->firstReplaced() - Start).count();
  bool Started = Ring.used();
  Running.join();
  Running.waitForOthers(Supervisor, Interval, Result);
  Running.Display.clear();
  Result.Messages = Log.messages();
  if (Result.End.BySignal)
    dropFatalSignalReport(Result.Messages);
  return Started ? llvm::Error::success() : startFailure(Result);
}

/// Writes the end of the trace. If it cannot, what cannot be read is removed.
inline llvm::Error finishTrace(std::unique_ptr<indexer::Indexer> &Index,
                               llvm::StringRef Path, RecordResult &Result) {
  struct rusage Usage;
  getrusage(RUSAGE_SELF, &Usage);
  Result.PeakIndexerKb = Usage.ru_maxrss;
  llvm::Error E = Index->finish(endInfo(Result)).moveInto(Result.Index);
  if (!E)
    return E;
  Index.reset();
  return tree::withoutTrace(Path, std::move(E));
}

/// Packs the files of the programs into the traces, and notes what was done.
inline llvm::Error packTraces(RecordResult &Result, recording::PackWhat What) {
  auto Pack = [&](llvm::StringRef Trace,
                  indexer::IndexSummary &Index) -> llvm::Error {
    llvm::Expected<uint64_t> Grown =
        recording::packAtEnd(Trace, What, Result.Notes);
    if (!Grown)
      return Grown.takeError();
    Index.FileBytes += *Grown;
    return llvm::Error::success();
  };
  if (llvm::Error E = Pack(Result.FirstTrace, Result.Index))
    return E;
  for (tree::ProcessResult &P : Result.Others)
    if (llvm::Error E = Pack(P.Trace, P.Index))
      return E;
  return llvm::Error::success();
}

/// Fills in where the processes crashed.
inline void findCrashPlaces(RecordResult &Result) {
  if (Result.Removed)
    return;
  Result.Place = recording::crashPlace(Result.FirstTrace, runEnd(Result));
  for (const tree::ProcessResult &P : Result.Others)
    Result.OtherPlaces.push_back(recording::crashPlace(
        P.Trace, answers::RunEnd::named(P.Index.Reason, P.Index.Code)));
}

} // namespace chronicle::cli

#endif
