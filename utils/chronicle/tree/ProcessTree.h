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
#include "trace-format/Thread.h"
#include "trace-format/Translations.h"
#include "utils/chronicle/tree/RunFiles.h"
#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <mutex>

namespace chronicle::tree {

/// What a process runs. A forked one runs what its parent did.
struct RunningProgram {
  launch::ProgramFile File;
  std::vector<std::string> Arguments, Environment;
  /// For the processes that it forks; null if they are not recorded.
  std::shared_ptr<family::DefinitionArchive> Archive;
};

/// A process that asks to be recorded, once it has a number.
struct NewProcess {
  const launch::ProcessRequest &Request;
  const RunningProgram &Program;
  uint32_t Number;
  bool Replaced; ///< it is the process of the trace that it came from
  /// If it was forked: when, in its parent's trace, and by which thread.
  std::optional<uint64_t> ForkedAt;
  uint32_t ForkedBy;
  family::Kinship Kin;
  std::string Trace;
};

struct TreeOptions {
  uint32_t BlockInstructions = launch::DefaultBlockInstructions;
  /// Whether forked processes are recorded.
  bool Forks = false;
  RunningProgram First; ///< of the first recorder
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

/// Records as many processes at the same time as memory and the limit of open
/// files allow; others run unrecorded. Costs per process: two threads, a ring
/// of which at most 16 chunks are ever used, and what an indexer needs
/// (docs/format.md, "Indexer memory"). All of it is given back when the process
/// ends.
class ProcessTree {
public:
  ProcessTree(launch::ControlSocket &Control, RunFiles &Files,
              TreeOptions Options);
  ~ProcessTree();

  /// Takes what start() needs: fails if there is no thread for it.
  llvm::Error prepare();
  /// After prepare(), when the first recorder runs. First is the indexer of its
  /// trace; it must live until wait() returns. Raises this process's limit of
  /// open files as far as allowed.
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
  void serveOnThread(launch::OwnedDescriptor Socket);
  void record(launch::ProcessRequest &Request);
  llvm::Expected<RunningProgram>
  newProgram(const launch::ProcessRequest &Request) const;
  llvm::Expected<RunningProgram>
  forkedProgram(const launch::ProcessRequest &Request, family::ForkPoint &At,
                family::InheritedDefinitions &Inherited) const;
  llvm::Expected<uint32_t> takeNumber();
  Member &add(const launch::ProcessRequest &Request, RunningProgram Program,
              uint32_t Number, std::string Trace, indexer::Indexer &Index);
  void joinFinished();
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
  Thread Listener;
  /// Set when the first recorder runs: to true if there is one.
  std::promise<bool> Started;
  bool IsStarted = false;

  /// Serves one request.
  struct Server {
    Thread Runs;
    std::atomic<bool> Finished{false};
  };
  std::list<Server> Servers; ///< of the listener

  mutable std::mutex Mutex;  ///< of all that follows
  std::list<Member> Members; ///< being recorded; the first process is not
  uint32_t NextNumber = 2;
  size_t Recorded = 0, MostAtOnce = 0; ///< at the same time, now and at most
  pid_t FirstProcess = 0;
  indexer::Indexer *First = nullptr;
  std::optional<std::chrono::steady_clock::time_point> FirstReplaced;
  bool Stopped = false, Killed = false;
};

} // namespace chronicle::tree

#endif
