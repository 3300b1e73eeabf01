// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// chronicle record: runs a program under the recorder, with the indexer in this
// process, and ends as the program ends.

#include "indexer/Indexer.h"
#include "query/ReplayProgram.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/ProgramFile.h"
#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/Ring.h"
#include "recorder/launch/RunFacts.h"
#include "recorder/launch/Supervisor.h"
#include "utils/chronicle/Command.h"
#include "utils/chronicle/RecordReport.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>
#include <thread>

using namespace llvm;

namespace chronicle {

static int runRecord(ArrayRef<const char *> Program);

static Command Record(
    {.Name = "record",
     .Summary = "record a run of a program into a trace",
     .Arguments = "[options] [--] program [arguments...]",
     .Details =
         "Runs the program and writes everything that happened to trace.db. "
         "The "
         "program behaves as\nwithout us, and its exit status or signal "
         "becomes "
         "ours; 125 is a failure of Chronicle\nitself, 126 a program that "
         "cannot be run, 127 one that was not found. Ctrl-C reaches the\n"
         "program; a second one ends the recording, and the trace is complete "
         "up to there.\n\nThe summary goes to standard error, as its last "
         "line with --json.",
     .Examples = "  chronicle record ./server --port 8080\n"
                 "  chronicle record -o sort.db -- sort -r names.txt\n"
                 "  chronicle record --quiet --summary run.json make test\n",
     .Run = runRecord,
     .TakesProgram = true,
     .UsageStatus = StatusOurFailure});

static cl::opt<std::string>
    Output("o", cl::sub(Record), cl::init("trace.db"), cl::value_desc("FILE"),
           cl::desc("Write the trace to FILE (trace.db)"));
static cl::opt<bool> Force("force", cl::sub(Record),
                           cl::desc("Replace the file if it exists"));
static cl::opt<unsigned> BlockInstructions(
    "block-instructions", cl::sub(Record), cl::init(DefaultBlockInstructions),
    cl::value_desc("N"),
    cl::desc("Most instructions of a block, 1000 to 10000000 (100000)"));
static cl::opt<Codec>
    Compression("codec", cl::sub(Record), cl::init(Codec::Zstd),
                cl::value_desc("NAME"),
                cl::desc("How the trace is compressed. If not given: zstd, and "
                         "lz4 for what is read most:"),
                cl::values(clEnumValN(Codec::Zstd, "zstd", "smallest"),
                           clEnumValN(Codec::Lz4, "lz4", "fastest to read"),
                           clEnumValN(Codec::Zlib, "zlib", "zlib"),
                           clEnumValN(Codec::None, "none", "not at all")));
static cl::opt<int> Level("level", cl::sub(Record), cl::init(1),
                          cl::value_desc("N"),
                          cl::desc("Compression level of the codec (1)"));
static cl::opt<std::string>
    LogLoads("log-loads", cl::sub(Record), cl::init("auto"),
             cl::value_desc("WHEN"),
             cl::desc("Log loads too: always, never, or auto, when others "
                      "write the memory"));
static cl::opt<bool> Quiet("quiet", cl::sub(Record),
                           cl::desc("No live line and no summary"));
static cl::opt<bool> Json("json", cl::sub(Record),
                          cl::desc("The summary as one line of JSON"));
static cl::opt<std::string>
    SummaryFile("summary", cl::sub(Record), cl::value_desc("FILE"),
                cl::desc("Write the summary to FILE, as JSON"));

// For tests.
static cl::opt<unsigned> RingChunks("ring-chunks", cl::sub(Record), cl::Hidden);
static cl::opt<std::string> Tool("tool", cl::sub(Record), cl::Hidden);

namespace {

/// Ties the supervisor to the indexer and to the terminal.
class Recording : public SupervisorClient {
public:
  explicit Recording(Indexer &Index) : Index(Index) {
    Thread = std::thread([this] {
      this->Index.run();
      IndexerDone = true;
    });
  }
  ~Recording() override {
    if (Thread.joinable())
      join();
  }

  /// After the end of the recorder's process.
  void join() {
    Index.recorderGone();
    Thread.join();
  }

  void tick() override { Display.update(Index.progress(), Hint); }
  void interrupted() override { Hint = "Ctrl-C again ends the recording"; }
  void endRecording() override {
    Hint = "ending";
    Index.requestStop();
  }
  bool recordingEnded() override { return IndexerDone; }
  void suspending() override { Display.clear(); }

  RecordDisplay Display;

private:
  Indexer &Index;
  StringRef Hint;
  std::atomic<bool> IndexerDone{false};
  std::thread Thread;
};

} // namespace

/// One sentence about wrong options, or empty.
static std::string wrongOptions() {
  if (BlockInstructions < MinBlockInstructions ||
      BlockInstructions > MaxBlockInstructions)
    return formatv("--block-instructions must be from {0} to {1}",
                   MinBlockInstructions, MaxBlockInstructions);
  auto [Lowest, Highest] = codecLevels(Compression);
  if (Level.getNumOccurrences() && Compression == Codec::None)
    return "--level means nothing with --codec none";
  if (Compression != Codec::None && (Level < Lowest || Level > Highest))
    return formatv("--level must be from {0} to {1} for {2}", Lowest, Highest,
                   codecName(Compression));
  if (LogLoads != "auto" && LogLoads != "always" && LogLoads != "never")
    return "--log-loads must be auto, always or never";
  if (RingChunks.getNumOccurrences() && (RingChunks < 2 || RingChunks > 4096))
    return "--ring-chunks must be from 2 to 4096";
  if (Output.empty())
    return "-o needs the name of a file";
  return "";
}

/// Refuses outputs that would destroy something.
static Error checkOutput(const ProgramFile &Program) {
  sys::fs::file_status Status;
  if (sys::fs::status(Output, Status) || !sys::fs::exists(Status))
    return Error::success(); // creating it will tell
  if (sys::fs::is_directory(Status))
    return launchError(StatusOurFailure, "'" + Output + "' is a directory");
  if (!sys::fs::is_regular_file(Status))
    return launchError(StatusOurFailure,
                       "'" + Output +
                           "' is not a regular file; a trace needs "
                           "one");
  if (!Force)
    return launchError(StatusOurFailure,
                       "'" + Output +
                           "' exists; --force replaces it, -o names "
                           "another file");
  if (sys::fs::equivalent(Output, Program.Path))
    return launchError(StatusOurFailure,
                       "'" + Output + "' is the program itself");
  return Error::success();
}

/// The tool, and the path of this program.
static Expected<std::pair<std::string, std::string>> findRecorder() {
  static int Anchor;
  std::string Executable = sys::fs::getMainExecutable("chronicle", &Anchor);
  std::string Path =
      Tool.empty() ? recorderPath(Executable) : std::string(Tool);
  if (!sys::fs::can_execute(Path))
    return launchError(StatusOurFailure, "the recorder '" + Path +
                                             "' is missing; build or "
                                             "install Chronicle again");
  return std::pair(Path, Executable);
}

static TraceWriter::Compression compression() {
  TraceWriter::Compression How;
  if (Compression.getNumOccurrences())
    How.Bulk = How.Others = Compression;
  How.Level = Level;
  return How;
}

static json::Object recordedOptions() {
  const TraceWriter::Compression How = compression();
  return json::Object{{"block-instructions", int64_t(BlockInstructions)},
                      {"codec", codecName(How.Others)},
                      {"bulk-codec", codecName(How.Bulk)},
                      {"level", int64_t(Level)},
                      {"log-loads", LogLoads}};
}

/// Valgrind's last words when a signal ends the program: a stack without names,
/// of which the trace knows better.
static void dropFatalSignalReport(std::vector<std::string> &Messages) {
  auto IsReport = [](StringRef Message) {
    return Message.starts_with("Process terminating with default action");
  };
  Messages.erase(llvm::find_if(Messages, IsReport), Messages.end());
}

/// Why the recorder ended before the program's first instruction.
static Error startFailure(const ProcessEnd &End,
                          ArrayRef<std::string> Messages) {
  LaunchStatus Status = StatusOurFailure;
  if (!End.BySignal &&
      (End.Code == StatusCannotRun || End.Code == StatusNotFound))
    Status = LaunchStatus(End.Code);
  std::string Why =
      Messages.empty() ? "it ended with " + describeEnd(End) : Messages.front();
  return launchError(Status, "Valgrind could not start the program: " + Why);
}

namespace {

/// The file of --summary, opened before the program starts so that a wrong name
/// costs nothing, and removed again if it never gets its contents.
class SummaryOutput {
public:
  ~SummaryOutput() {
    if (File && !Written)
      sys::fs::remove(SummaryFile);
  }
  Error open() {
    if (SummaryFile.empty())
      return Error::success();
    std::error_code EC;
    File = std::make_unique<raw_fd_ostream>(SummaryFile, EC);
    if (!EC)
      return Error::success();
    File.reset();
    return failure(EC);
  }
  Error write(json::Object Summary) {
    if (!File)
      return Error::success();
    *File << json::Value(std::move(Summary)) << '\n';
    File->close();
    std::error_code EC = File->error();
    File->clear_error();
    Written = !EC;
    return EC ? failure(EC) : Error::success();
  }

private:
  static Error failure(std::error_code EC) {
    return launchError(StatusOurFailure, "cannot write the summary to '" +
                                             SummaryFile +
                                             "': " + EC.message());
  }
  std::unique_ptr<raw_fd_ostream> File;
  bool Written = false;
};

} // namespace

/// Shows the summary; an error if the trace is not what was asked for.
static Error report(const RecordResult &Result, SummaryOutput &Summarized) {
  if (Json)
    errs() << json::Value(summaryJson(Result)) << '\n';
  else if (!Quiet)
    errs() << summaryText(Result);
  if (Error E = Summarized.write(summaryJson(Result)))
    return E;
  if (!Result.Index.Failure.empty())
    return launchError(StatusOurFailure,
                       "the trace is not complete: " + Result.Index.Failure);
  // The recorder tells when the program ends, unless a signal ends both.
  if (Result.Index.Reason == "killed" && !Result.End.BySignal) {
    std::string Why = Result.Messages.empty() ? describeEnd(Result.End)
                                              : Result.Messages.front();
    return launchError(StatusOurFailure, "the recorder failed (" + Why +
                                             "); the trace ends there");
  }
  return Error::success();
}

/// Records; the result is how the program ended. Fails only for reasons that
/// are not the program's.
static Expected<ProcessEnd> record(ArrayRef<const char *> Arguments) {
  const char *SearchPath = getenv("PATH");
  Expected<ProgramFile> Program = findProgramFile(
      Arguments[0],
      SearchPath ? std::optional<StringRef>(SearchPath) : std::nullopt);
  if (!Program)
    return Program.takeError();
  if (Error E = checkOutput(*Program))
    return E;
  SummaryOutput Summarized;
  if (Error E = Summarized.open())
    return E;
  auto Recorder = findRecorder();
  if (!Recorder)
    return Recorder.takeError();
  // From here on signals and file size limits do not end this process.
  Expected<std::unique_ptr<Supervisor>> TheSupervisor = Supervisor::create();
  if (!TheSupervisor)
    return TheSupervisor.takeError();
  Expected<Ring> TheRing = Ring::create(
      BlockInstructions, RingChunks.getNumOccurrences()
                             ? unsigned(RingChunks)
                             : defaultRingChunks(BlockInstructions));
  if (!TheRing)
    return TheRing.takeError();
  Expected<RecorderLog> Log = RecorderLog::create();
  if (!Log)
    return Log.takeError();

  // Whoever has the old trace open keeps it: truncating it would take it away.
  SmallString<128> Old;
  if (Force && !sys::fs::real_path(Output, Old))
    sys::fs::remove(Old); // if it cannot be removed, it may still be written
  IndexerOptions Options;
  Options.Path = Output;
  Options.Overwrite = Force;
  Options.Compression = compression();
  Options.Programs = programMaker();
  Options.Run = runFacts(*Program, Arguments, recordedOptions());
  Expected<std::unique_ptr<Indexer>> Index =
      Indexer::create(std::move(Options), TheRing->memory(), TheRing->size());
  if (!Index)
    return Index.takeError();
  // Until the program runs there is nothing worth keeping.
  scope_exit RemoveTrace([&] {
    Index->reset();
    sys::fs::remove(Output);
  });

  RecorderCommand Command;
  Command.Tool = Recorder->first;
  Command.Launcher = Recorder->second;
  Command.LogLoads = LogLoads;
  Command.RingDescriptor = TheRing->descriptor();
  Command.LogDescriptor = Log->descriptor();
  Command.Program.assign(Arguments.begin(), Arguments.end());
  if (Program->NeedsPath)
    Command.Program[0] = Program->Path;

  auto Start = std::chrono::steady_clock::now();
  if (Error E = (*TheSupervisor)->start(Command))
    return E;
  Recording Running(**Index);
  bool Live = !Quiet && Running.Display.enabled();
  RecordResult Result;
  Result.End = (*TheSupervisor)
                   ->wait(Running, std::chrono::milliseconds(Live ? 200 : 0));
  Result.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  bool Started = TheRing->used();
  Running.join();
  Running.Display.clear();
  Result.Messages = Log->messages();
  if (Result.End.BySignal)
    dropFatalSignalReport(Result.Messages);
  if (!Started)
    return startFailure(Result.End, Result.Messages);
  RemoveTrace.release();

  struct rusage Usage;
  getrusage(RUSAGE_SELF, &Usage);
  Result.PeakIndexerKb = Usage.ru_maxrss;
  EndInfo End;
  End.Seconds = Result.Seconds;
  End.PeakProgramKb = Result.End.PeakKb;
  End.PeakIndexerKb = Result.PeakIndexerKb;
  End.Reason = Result.End.Interrupted ? "stopped" : "killed";
  End.Code = Result.End.Code;
  (Result.End.BySignal ? End.Signal : End.ExitStatus) = Result.End.Code;
  Expected<IndexSummary> Summary = (*Index)->finish(End);
  if (!Summary)
    return Summary.takeError();

  Result.Program = Arguments[0];
  Result.Trace = Output;
  Result.Index = std::move(*Summary);
  if (Error E = report(Result, Summarized))
    return E;
  return Result.End;
}

static int runRecord(ArrayRef<const char *> Program) {
  reserveStandardStreams();
  std::string Wrong = wrongOptions();
  if (!Wrong.empty())
    return failUsage(Record, Wrong);
  if (Program.empty())
    return failUsage(Record, "which program? Name it after the options");
  Expected<ProcessEnd> End = record(Program);
  if (!End) {
    int Status = StatusOurFailure;
    std::string Text;
    handleAllErrors(
        End.takeError(),
        [&](const LaunchError &E) {
          Status = E.status();
          Text = E.message();
        },
        [&](const ErrorInfoBase &E) { Text = E.message(); });
    return fail(Record, Status, Text);
  }
  endAs(*End);
}

} // namespace chronicle
