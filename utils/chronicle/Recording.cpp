// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/Recording.h"

using namespace llvm;

namespace chronicle::cli {

Error runProgram(launch::Supervisor &Supervisor,
                 const launch::RecorderCommand &Command,
                 const launch::SharedRing &Ring, indexer::Indexer &Index,
                 launch::RecorderLog &Log, cache::TranslationCache *Cache,
                 bool Quiet, RecordResult &Result) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point Start = Clock::now();
  if (Error E = Supervisor.start(Command))
    return E;
  if (Cache)
    Cache->closeFiles();
  Recording Running(Index);
  bool Live = !Quiet && Running.Display.enabled();
  Result.End =
      Supervisor.wait(Running, std::chrono::milliseconds(Live ? 200 : 0));
  Result.Seconds = std::chrono::duration<double>(Clock::now() - Start).count();
  bool Started = Ring.used();
  Running.join();
  Running.Display.clear();
  Result.Messages = Log.messages();
  if (Result.End.BySignal)
    dropFatalSignalReport(Result.Messages);
  return Started ? Error::success() : startFailure(Result);
}

} // namespace chronicle::cli
