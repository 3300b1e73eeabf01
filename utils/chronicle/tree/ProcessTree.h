// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Records the processes that the recorded program starts, and the programs
/// that they become.

#ifndef CHRONICLE_UTILS_CHRONICLE_TREE_PROCESSTREE_H
#define CHRONICLE_UTILS_CHRONICLE_TREE_PROCESSTREE_H

#include "indexer/Indexer.h"
#include "recorder/launch/ControlSocket.h"
#include "recorder/launch/ProgramFile.h"
#include "recorder/launch/SharedRing.h"
#include "trace-format/Translations.h"
#include "utils/chronicle/tree/RunFiles.h"
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace chronicle::tree {

/// A process that asks to be recorded, once it has a number.
struct NewProcess {
  const launch::ProcessRequest &Request;
  const launch::ProgramFile &Program;
  uint32_t Number;
  bool Replaced; ///< it is the process of the trace that it came from
  std::string Trace;
};

struct TreeOptions {
  uint32_t BlockInstructions = launch::DefaultBlockInstructions;
  /// Files of the translation cache, for every recorder.
  std::vector<int> Translations;
  /// Makes the indexer of a process. Called on several threads.
  std::function<llvm::Expected<std::unique_ptr<indexer::Indexer>>(
      const NewProcess &, launch::SharedRing &)>
      MakeIndexer;
};

/// What was recorded of a process.
struct ProcessResult {
  uint32_t Number = 0;
  pid_t Process = 0;
  std::string Program; ///< path
  std::string Trace;
  double Seconds = 0;
  indexer::IndexSummary Index;
  std::vector<std::string> Messages; ///< what Valgrind printed
  ch_translation_report Translations = {};
};

/// A program that ran unrecorded.
struct UnrecordedProgram {
  pid_t Process = 0;
  std::string Program;
  std::string Why;
};

/// Costs per process: two threads, a ring of which at most 16 chunks are ever
/// used, and what an indexer needs (docs/format.md, "Indexer memory"). All of
/// it is given back when the process ends.
class ProcessTree {
public:
  ProcessTree(launch::ControlSocket &Control, RunFiles &Files,
              TreeOptions Options);
  ~ProcessTree();

  /// To be called when the first recorder runs. First is the indexer of its
  /// trace; it must live until wait() returns.
  void start(pid_t Process, indexer::Indexer &First);

  /// Becomes readable when no process is left.
  int done() const { return DoneEvent.get(); }
  /// How many processes are being recorded, apart from the first.
  size_t running() const;
  /// Adds the progress of all of them.
  void addProgress(indexer::IndexerProgress &Total) const;

  /// Asks the recorders to end their traces.
  void requestStop();
  /// Kills the processes that are being recorded. New ones are not recorded.
  void kill();
  /// Waits for the traces. Processes that are not recorded may be left if
  /// kill() was called.
  void wait();

  /// When the first process became another program that is recorded, if it
  /// did.
  std::optional<std::chrono::steady_clock::time_point> firstReplaced() const;

  /// After wait(), by number.
  std::vector<ProcessResult> Results;
  std::vector<UnrecordedProgram> Unrecorded;

private:
  struct Member;
  void listen();
  void serve(launch::OwnedDescriptor Socket);
  void record(const launch::ProcessRequest &Request);
  void run(Member &M, const launch::ProcessRequest &Request,
           const launch::SharedRing &Ring);
  void finish(Member &M, const launch::SharedRing &Ring,
              std::vector<std::string> Messages);
  void leaveOut(const launch::ProcessRequest &Request, llvm::Error Why);
  void replaced(uint32_t Number, pid_t Process);
  bool isProcessOf(uint32_t Number, pid_t Process) const;
  void wake() const;

  launch::ControlSocket &Control;
  RunFiles &Files;
  const TreeOptions Options;
  launch::OwnedDescriptor WakeEvent, DoneEvent;
  std::thread Listener;

  mutable std::mutex Mutex;  ///< of all that follows
  std::list<Member> Members; ///< being recorded; the first process is not
  std::list<std::thread> Threads;
  uint32_t NextNumber = 2;
  pid_t FirstProcess = 0;
  indexer::Indexer *First = nullptr;
  std::optional<std::chrono::steady_clock::time_point> FirstReplaced;
  bool Stopped = false, Killed = false;
};

} // namespace chronicle::tree

#endif
