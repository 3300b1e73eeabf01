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
#include "utils/chronicle/RecordReport.h"
#include <atomic>
#include <thread>

namespace chronicle::cli {

/// Runs the indexer in a thread, and connects the supervisor to it and to the
/// terminal.
class Recording : public launch::SupervisorClient {
public:
  explicit Recording(indexer::Indexer &Index) : Index(Index) {
    Thread = std::thread([this] {
      this->Index.run();
      IndexerDone = true;
    });
  }
  ~Recording() override {
    if (Thread.joinable())
      join();
  }

  /// Waits for the indexer. The recorder's process must have ended.
  void join() {
    Index.recorderGone();
    Thread.join();
  }

  void tick() override { Display.update(Index.progress(), Hint); }
  void interrupted() override {
    Hint = "press Ctrl-C again to end the recording";
  }
  void endRecording() override {
    Hint = "ending";
    Index.requestStop();
  }
  bool recordingEnded() override { return IndexerDone; }
  void suspending() override { Display.clear(); }

  RecordDisplay Display;

private:
  indexer::Indexer &Index;
  llvm::StringRef Hint;
  std::atomic<bool> IndexerDone{false};
  std::thread Thread;
};

/// Runs the program to its end and fills in the result, except for the index.
llvm::Error runProgram(launch::Supervisor &Supervisor,
                       const launch::RecorderCommand &Command,
                       const launch::SharedRing &Ring, indexer::Indexer &Index,
                       launch::RecorderLog &Log, cache::TranslationCache *Cache,
                       bool Quiet, RecordResult &Result);

} // namespace chronicle::cli

#endif
