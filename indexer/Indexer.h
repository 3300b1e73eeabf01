// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The indexer: takes the stream out of the ring (trace-format/Stream.h) and
/// writes the database. It is used by the launcher, in the process that started
/// the recorded program:
///
///   auto I = Indexer::create(std::move(Options), Ring, RingBytes);
///   std::thread T([&] { (*I)->run(); });   // start the program, wait for it
///   ...
///   (*I)->recorderGone();                  // the process is dead and reaped
///   T.join();
///   auto Summary = (*I)->finish(End);

#ifndef CHRONICLE_INDEXER_INDEXER_H
#define CHRONICLE_INDEXER_INDEXER_H

#include "indexer/family/DefinitionArchive.h"
#include "trace-format/file/TraceWriter.h"
#include "trace-format/pieces/ProgramFormat.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace chronicle::indexer {

struct IndexerOptions {
  std::string Path;
  /// Replace a file that is there; otherwise create() fails.
  bool Overwrite = false;
  file::TraceWriter::Compression Compression;
  /// Compression threads; 0: one less than there are cores, at least one.
  unsigned Workers = 0;
  /// Makes the programs piece; without it the trace has none.
  pieces::ProgramMaker Programs;
  /// Gets each translation that the recorder made
  /// (trace-format/Translations.h), on the thread that runs the indexer.
  std::function<void(llvm::ArrayRef<uint8_t>)> Translations;
  /// The run piece (docs/format.md, "JSON pieces").
  llvm::json::Object Run;
  /// If the processes that the program forks are recorded: what it has from
  /// the one that forked it, and what its own children will need.
  family::Kinship Kin;
  /// If given, called on the indexer's thread with the path of each file that
  /// the program maps executable, soon after it does so.
  std::function<void(llvm::StringRef)> ExecutableMapped;
  /// A checkpoint after this many blocks or seconds, whichever comes first.
  unsigned CheckpointBlocks = 4000;
  double CheckpointSeconds = 0.3;
};

/// Counters for a live display; any thread may read them at any time.
struct IndexerProgress {
  std::atomic<uint64_t> Instructions{0};
  std::atomic<uint64_t> Executions{0};
  std::atomic<uint64_t> Superblocks{0};
  std::atomic<uint64_t> Events{0};
  std::atomic<uint64_t> Threads{0};
  std::atomic<uint64_t> Blocks{0};
  std::atomic<uint64_t> Outputs{0}; ///< CH_EV_OUTPUT events
  std::atomic<uint64_t> FileBytes{0};
  /// The trace could not be continued (disk full ...); the program goes on.
  std::atomic<bool> Failed{false};
};

/// What only the launcher knows, for the end piece.
struct EndInfo {
  double Seconds = 0;
  int64_t Process = 0; ///< its number, 0 if not known
  uint64_t PeakProgramKb = 0;
  uint64_t PeakIndexerKb = 0;
  /// Used if the stream has no CH_EV_END: "killed" (Code: the signal),
  /// "stopped" or "recorder-failed" (Code: the exit status; Failure: why). A
  /// CH_EV_END in the stream and a failure to write rank higher.
  std::string Reason = "killed";
  uint32_t Code = 0;
  std::string Failure;
  /// How the process ended by wait(2): its exit status, or the signal it died
  /// of. If given, these rank higher than what the stream's CH_EV_END says of
  /// an exit or a signal.
  std::optional<uint32_t> ExitStatus, Signal;
};

struct IndexSummary {
  uint64_t Instructions = 0, Executions = 0, Superblocks = 0, Blocks = 0;
  uint64_t Events = 0, Threads = 0, FileBytes = 0;
  uint64_t UnreportedWrites = 0, OutsideWrites = 0, OpaqueBytes = 0;
  std::string Reason; ///< as in the end piece
  uint32_t Code = 0;
  /// Why the trace ends before the program did (disk full ...), or empty.
  std::string Failure;
};

/// Costs: one thread that decodes (about 1 ns per instruction) and
/// IndexerOptions::Workers threads that compress. Memory: docs/format.md,
/// "Indexer
/// memory".
class Indexer {
public:
  /// Creates the file and writes its header and run piece. \p Ring is the
  /// mapped ring, already laid out (header filled in), and must outlive the
  /// indexer.
  static llvm::Expected<std::unique_ptr<Indexer>>
  create(const IndexerOptions &Options, void *Ring, size_t RingBytes);
  /// Without finish() the file is left without directory and end.
  ~Indexer();

  /// Takes chunks until the last one, or until recorderGone() was called and
  /// all is read. Never fails: if something goes wrong, the recorder is asked
  /// to stop (CH_REQUEST_STOP), the ring is still emptied so that the program
  /// never waits for it, and finish() reports the problem.
  void run();

  /// Call when the recorder's process no longer exists, so that nothing is
  /// written to the ring any more. From any thread.
  void recorderGone();

  /// Asks the recorder to stop recording while the program goes on.
  void requestStop();

  const IndexerProgress &progress() const;

  /// After run(): writes end piece, directory and footer and closes the file.
  /// An error means that the file could not be completed (it is still readable
  /// by scanning if it has a checkpoint).
  llvm::Expected<IndexSummary> finish(const EndInfo &Info);

private:
  Indexer();
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle::indexer

#endif
