// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle record`: runs a program under the recorder, with the indexer in
/// this process, and ends as the program ends.

#include "indexer/Indexer.h"
#include "recorder/cache/TranslationCache.h"
#include "recorder/launch/ControlSocket.h"
#include "recorder/launch/InheritedDescriptors.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/ProgramFile.h"
#include "recorder/launch/RecorderCommand.h"
#include "recorder/launch/RecorderLog.h"
#include "recorder/launch/SharedRing.h"
#include "recorder/launch/Supervisor.h"
#include "utils/chronicle/RecordReport.h"
#include "utils/chronicle/Recording.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/recording/AttachOption.h"
#include "utils/chronicle/recording/OutputFile.h"
#include "utils/chronicle/recording/ProgramFiles.h"
#include "utils/chronicle/recording/RecorderPaths.h"
#include "utils/chronicle/recording/SummaryFile.h"
#include "utils/chronicle/tree/ProcessTree.h"
#include "utils/chronicle/tree/RunFiles.h"
#include "utils/chronicle/tree/TraceMaker.h"
#include "utils/chronicle/tries/TryOptions.h"
#include "utils/chronicle/tries/TryRunner.h"
#include "utils/chronicle/tries/TrySummary.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int runRecord(ArrayRef<const char *> Program);

static Command Record(
    {.Name = "record",
     .Summary = "record a run of a program into a trace",
     .Arguments = "[options] [--] program [arguments...]",
     .Details =
         "Runs the program and writes everything that happens to a trace. The "
         "program behaves as it does without Chronicle, and its exit status "
         "or signal becomes that of this command. A summary goes to standard "
         "error.\n\n"
         "Ctrl-C reaches the program. A second Ctrl-C ends the recording, and "
         "the trace is complete up to that moment.\n\n"
         "Processes that the program starts are recorded, too, each into a "
         "trace of its own; then the output is a directory, and chronicle ps "
         "lists its traces (--children chooses which are recorded).",
     .Examples = "  chronicle record ./server --port 8080\n"
                 "  chronicle record -o sort.db -- sort -r names.txt\n"
                 "  chronicle record -o tests.db -- ctest -R parser\n"
                 "  chronicle record --only-failing -d traces ./parser-test\n"
                 "  chronicle record --tries 100 --until crash ./queue-test\n",
     .Statuses = {{"the program's",
                   "The program ran. If it died of a signal, so does this "
                   "command. With --tries, that of the run that was kept, "
                   "and 0 if there was none."},
                  {"124", "The program was ended by --timeout."},
                  {"125", "Chronicle failed, or an option is wrong."},
                  {"126", "The program cannot be recorded."},
                  {"127", "The program was not found."}},
     .Run = runRecord,
     .TakesProgram = true,
     .UsageStatus = launch::StatusOurFailure});

static cl::opt<std::string>
    Output("output", cl::sub(Record), cl::init("trace.db"),
           cl::value_desc("FILE"),
           cl::desc("Write the trace to FILE (default trace.db)"));
static ShortName OutputLetter("o", Output);
static cl::opt<std::string>
    Directory("directory", cl::sub(Record), cl::value_desc("DIR"),
              cl::desc("Write the trace to a new file PROGRAM-PID.db in DIR"));
static ShortName DirectoryLetter("d", Directory);
static cl::opt<bool>
    OnlyFailing("only-failing", cl::sub(Record),
                cl::desc("Remove the trace if the program exits with status 0, "
                         "and print nothing then"));
namespace {
enum class Children { All, Exec, None };
enum class LogLoadsWhen { Auto, Always, Never };
} // namespace
static ChoiceOption<Children>
    Follow("children", cl::sub(Record), cl::init(Children::All),
           cl::value_desc("WHICH"),
           cl::desc("Which processes of the program to record, too"),
           cl::values(clEnumValN(Children::All, "all", "the default"),
                      clEnumValN(Children::Exec, "exec", "new programs only"),
                      clEnumValN(Children::None, "none", "")));
static cl::opt<bool> Force("force", cl::sub(Record),
                           cl::desc("Replace the trace file if it exists"));
static ShortName ForceLetter("f", Force);
static NumberOption<unsigned> BlockInstructions(
    "block-instructions", cl::sub(Record),
    cl::init(launch::DefaultBlockInstructions), cl::value_desc("N"),
    cl::desc("Limit blocks to N instructions (default 100000)"));
static ChoiceOption<file::Codec>
    Compression("codec", cl::sub(Record), cl::init(file::Codec::Zstd),
                cl::value_desc("NAME"),
                cl::desc("Compress with NAME only, not with lz4 and zstd"),
                cl::values(clEnumValN(file::Codec::Zstd, "zstd", "smallest"),
                           clEnumValN(file::Codec::Lz4, "lz4", "fastest"),
                           clEnumValN(file::Codec::Zlib, "zlib", ""),
                           clEnumValN(file::Codec::None, "none", "")));
static NumberOption<int> Level("level", cl::sub(Record), cl::init(1),
                               cl::value_desc("N"),
                               cl::desc("Compression level (default 1)"));
static ChoiceOption<LogLoadsWhen>
    LogLoads("log-loads", cl::sub(Record), cl::init(LogLoadsWhen::Auto),
             cl::value_desc("WHEN"),
             cl::desc("Log what the program reads from memory, too"),
             cl::values(clEnumValN(LogLoadsWhen::Auto, "auto",
                                   "where others write, the default"),
                        clEnumValN(LogLoadsWhen::Always, "always", ""),
                        clEnumValN(LogLoadsWhen::Never, "never", "")));
static cl::opt<bool>
    NoKeep("no-keep", cl::sub(Record),
           cl::desc("Keep no copies of the program and its libraries"));
using recording::PackWhat;
static ChoiceOption<PackWhat> PackAtEnd(
    "pack", cl::sub(Record), cl::init(PackWhat::Nothing), cl::ValueOptional,
    cl::value_desc("WHAT"),
    cl::desc("Put the program's files into the trace at the end"),
    cl::values(clEnumValN(PackWhat::Files, "files", "the default"),
               clEnumValN(PackWhat::Sources, "sources", "with the sources"),
               clEnumValN(PackWhat::Files, "", "")));
static cl::opt<bool> Quiet("quiet", cl::sub(Record),
                           cl::desc("Print no progress and no summary"));
static ShortName QuietLetter("q", Quiet);
static cl::opt<bool> Json("json", cl::sub(Record),
                          cl::desc("Print the summary as one line of JSON"));
static cl::opt<std::string>
    SummaryPath("summary", cl::sub(Record), cl::value_desc("FILE"),
                cl::desc("Write the summary to FILE, as JSON"));

static cl::opt<std::string> CacheWhere(
    "cache", cl::sub(Record), cl::value_desc("WHERE"),
    cl::desc("Keep translated code for later recordings: 'on', a directory, "
             "or 'off' (default: $CHRONICLE_CACHE, or on)"));
static NumberOption<unsigned>
    CacheLimit("cache-limit", cl::sub(Record),
               cl::init(unsigned(cache::DefaultLimitMb)), cl::value_desc("MIB"),
               cl::desc("Maximum size of the cache in MiB (default 1024)"));

static tries::TryOptions Tries(Record);
static recording::AttachOption Attach(Record);

// For tests.
static NumberOption<unsigned> RingChunks("ring-chunks", cl::sub(Record),
                                         cl::Hidden);
static cl::opt<std::string> Tool("tool", cl::sub(Record), cl::Hidden);

/// The error in the options, or an empty string.
static std::string wrongOptions() {
  if (BlockInstructions < launch::MinBlockInstructions ||
      BlockInstructions > launch::MaxBlockInstructions)
    return formatv("invalid --block-instructions {0}: expected a number from "
                   "{1} to {2}",
                   unsigned(BlockInstructions), launch::MinBlockInstructions,
                   launch::MaxBlockInstructions);
  auto [Lowest, Highest] = file::codecLevels(Compression);
  if (Level.getNumOccurrences() && Compression == file::Codec::None)
    return "--level has no effect with --codec none";
  if (Compression != file::Codec::None && (Level < Lowest || Level > Highest))
    return formatv("invalid --level {0}: expected a number from {1} to {2} for "
                   "{3}",
                   int(Level), Lowest, Highest, file::codecName(Compression));
  if (RingChunks.getNumOccurrences() && (RingChunks < 2 || RingChunks > 4096))
    return formatv(
        "invalid --ring-chunks {0}: expected a number from 2 to 4096",
        unsigned(RingChunks));
  if (CacheWhere.getNumOccurrences() && CacheWhere.empty())
    return "--cache needs 'on', 'off' or the name of a directory";
  if (Output.empty())
    return "--output needs a file name";
  if (Output.getNumOccurrences() && Directory.getNumOccurrences())
    return "--output and --directory exclude each other: one names the trace, "
           "the other lets Chronicle name it";
  if (Directory.getNumOccurrences() && Directory.empty())
    return "--directory needs the name of a directory";
  std::string Refusal = Attach.refusal();
  return Refusal.empty() ? Tries.read() : Refusal;
}

static Expected<recording::OutputFile>
chooseOutput(const launch::ProgramFile &Program, const tries::Try *Which) {
  if (Which)
    return recording::OutputFile{Which->Trace, /*Replace=*/true};
  if (!Directory.empty())
    return recording::OutputFile::inDirectory(Directory, Program.Path);
  recording::OutputFile Chosen{Output, Force};
  if (Error E = Chosen.check(Program))
    return E;
  return Chosen;
}

static file::TraceWriter::Compression compression() {
  file::TraceWriter::Compression How;
  if (Compression.getNumOccurrences())
    How.Bulk = How.Others = Compression;
  How.Level = Level;
  return How;
}

static StringRef logLoads() {
  switch (LogLoads) {
  case LogLoadsWhen::Auto:
    return "auto";
  case LogLoadsWhen::Always:
    return "always";
  case LogLoadsWhen::Never:
    return "never";
  }
  llvm_unreachable("not a LogLoadsWhen");
}

static json::Object recordedOptions(std::optional<uint64_t> Chaos) {
  const file::TraceWriter::Compression How = compression();
  json::Object Options{{"block-instructions", int64_t(BlockInstructions)},
                       {"codec", file::codecName(How.Others)},
                       {"bulk-codec", file::codecName(How.Bulk)},
                       {"level", int64_t(Level)},
                       {"log-loads", logLoads()}};
  if (Chaos)
    Options["chaos"] = *Chaos;
  return Options;
}

static tree::TraceSettings
traceSettings(const recording::RecorderPaths &Recorder,
              std::optional<uint64_t> Chaos) {
  tree::TraceSettings Settings;
  Settings.Tool = Recorder.Tool;
  Settings.Compression = compression();
  Settings.Options = recordedOptions(Chaos);
  Settings.BlockInstructions = BlockInstructions;
  Settings.KeepFiles = !NoKeep;
  Settings.Forks = Follow == Children::All;
  return Settings;
}

/// Whether this run's trace is worth keeping.
static Expected<bool> worthKeeping(RecordResult &Result,
                                   const tries::Try *Which) {
  if (Which) {
    if (Error E = Tries.until()
                      .metBy(Result.End, *Which->Output)
                      .moveInto(Result.Met))
      return E;
    return Result.Met || Tries.keepAll();
  }
  return !OnlyFailing || Result.End.BySignal || Result.End.Code != 0;
}

/// Removes the trace of a run that passed, with --only-failing and --tries.
/// \return why there is neither a trace nor a reason to have none.
static Error keepOrRemove(std::unique_ptr<indexer::Indexer> &Index,
                          tree::RunFiles &Files, Error Finished,
                          RecordResult &Result, const tries::Try *Which) {
  Expected<bool> Keep = worthKeeping(Result, Which);
  if (!Keep)
    return joinErrors(std::move(Finished), Keep.takeError());
  if (*Keep)
    return Finished;
  // A passing test must not fail because its trace could not be written.
  consumeError(std::move(Finished));
  Index.reset();
  if (Error E = Files.remove())
    return E;
  Result.Removed = true;
  return Error::success();
}

/// How to start the recorder.
static launch::RecorderCommand recorderCommand(
    const recording::RecorderPaths &Recorder,
    const launch::ProgramFile &Program, ArrayRef<const char *> Arguments,
    const launch::SharedRing &Ring, const launch::RecorderLog &Log,
    const cache::TranslationCache *Cache, const launch::ControlSocket *Control,
    const launch::InheritedDescriptors &Inherited) {
  launch::RecorderCommand Command;
  Command.Tool = Recorder.Tool;
  Command.Launcher = Recorder.Launcher;
  Command.LogLoads = logLoads();
  Command.Inherited = &Inherited;
  Command.RingDescriptor = Ring.descriptor();
  Command.LogDescriptor = Log.descriptor();
  if (Control) {
    Command.ControlDescriptor = Control->recordersSocket();
    Command.LifelineDescriptor = Control->recordersLifeline();
    Command.RecordForks = Follow == Children::All;
  }
  if (Cache) {
    Command.TranslationDescriptors = Cache->descriptors();
    Command.KeepTranslations = true;
  }
  Command.Program.assign(Arguments.begin(), Arguments.end());
  if (Program.NeedsPath)
    Command.Program[0] = Program.Path;
  return Command;
}

/// Completes trace, cache and copies of files after the end of a run.
static Error finishRun(std::unique_ptr<indexer::Indexer> &Index,
                       tree::RunFiles &Files, tree::TraceMaker &Maker,
                       const launch::SharedRing &Ring, const tries::Try *Which,
                       RecordResult &Result) {
  Error Finished = finishTrace(Index, Files.first(), Result);
  if (Maker.cache()) {
    Result.Translations =
        tree::allTranslations(Ring.translations(), Result.Others);
    Result.CacheNote = Maker.cache()->finish(*Result.Translations);
  }
  if (Error E = keepOrRemove(Index, Files, std::move(Finished), Result, Which))
    return E;
  Result.Notes = Maker.finishKeeping();
  if (!Result.Removed && (!Which || Result.Met))
    if (Error E = packTraces(Result, PackAtEnd))
      return E;
  if (!Quiet || Json || !SummaryPath.empty())
    findCrashPlaces(Result);
  return Error::success();
}

/// Records a run, which is one of several if Which is not null. An error is
/// never the program's fault.
static Error record(ArrayRef<const char *> Arguments,
                    const launch::InheritedDescriptors &Inherited,
                    const tries::Try *Which, RecordResult &Result) {
  Expected<launch::ProgramFile> Program =
      launch::findProgramInPath(Arguments[0]);
  if (!Program)
    return Program.takeError();
  Expected<recording::OutputFile> Trace = chooseOutput(*Program, Which);
  if (!Trace)
    return Trace.takeError();
  // A file that was made for the trace goes if there is none.
  scope_exit RemoveReserved([&] {
    if (!Directory.empty())
      (void)sys::fs::remove(Trace->Path);
  });
  Expected<recording::RecorderPaths> Recorder = recording::findRecorder(Tool);
  if (!Recorder)
    return Recorder.takeError();
  // From here on, signals and file size limits do not end this process.
  Expected<std::unique_ptr<launch::Supervisor>> Supervisor =
      launch::Supervisor::create();
  if (!Supervisor)
    return Supervisor.takeError();
  Expected<launch::SharedRing> Ring = launch::SharedRing::create(
      BlockInstructions, RingChunks.getNumOccurrences()
                             ? unsigned(RingChunks)
                             : launch::defaultRingChunks(BlockInstructions));
  if (!Ring)
    return Ring.takeError();
  Expected<launch::RecorderLog> Log = launch::RecorderLog::create();
  if (!Log)
    return Log.takeError();
  Result.Chaos = Tries.chaos(Which ? Which->Number : 1);
  tree::TraceMaker Maker(traceSettings(*Recorder, Result.Chaos),
                         cache::TranslationCache::openIfUsable(
                             cache::cacheSetting(CacheWhere), Recorder->Tool,
                             uint64_t(CacheLimit) << 20, Result.CacheNote));
  std::unique_ptr<launch::ControlSocket> Control;
  if (Follow != Children::None && !Which)
    if (Error E = launch::ControlSocket::create().moveInto(Control))
      return E;
  tree::RunFiles Files(Trace->Path, Program->Path);
  Expected<std::unique_ptr<indexer::Indexer>> Index =
      Maker.make(*Program, *Trace, Arguments, *Ring);
  if (!Index)
    return Index.takeError();
  // Until the program runs, the trace is not worth keeping.
  scope_exit RemoveTrace([&] {
    Index->reset();
    consumeError(Files.remove());
  });

  launch::RecorderCommand Command =
      recorderCommand(*Recorder, *Program, Arguments, *Ring, *Log,
                      Maker.cache(), Control.get(), Inherited);
  Command.Chaos = Result.Chaos;
  Result.Program = Arguments[0];
  Result.Trace = Trace->Path;
  Result.TimeLimit = double(Tries.timeout().count()) / 1000;
  (*Supervisor)->setTimeLimit(Tries.timeout());
  std::optional<tree::ProcessTree> Tree;
  if (Control)
    Tree.emplace(*Control, Files, Maker.treeOptions());
  if (Error E =
          runProgram(**Supervisor, Command, *Ring, **Index, *Log,
                     Tree ? &*Tree : nullptr, Maker.cache(), Quiet, Result))
    return E;
  Result.FirstTrace = Files.first();
  RemoveTrace.release();
  RemoveReserved.release();
  return finishRun(*Index, Files, Maker, *Ring, Which, Result);
}

/// Records one run and prints the summary.
static Expected<launch::ProcessEnd>
recordOnce(ArrayRef<const char *> Arguments,
           const launch::InheritedDescriptors &Inherited) {
  recording::SummaryFile Summary(SummaryPath);
  if (Error E = Summary.open())
    return E;
  RecordResult Result;
  if (Error E = record(Arguments, Inherited, /*Which=*/nullptr, Result))
    return E;
  if (Json)
    errs() << json::Value(summaryJson(Result)) << '\n';
  else if (!Quiet && !Result.Removed)
    printSummary(errs(), Result);
  if (Error E = Summary.write(summaryJson(Result)))
    return E;
  if (Error E = incompleteTrace(Result))
    return E;
  return Result.End;
}

/// Runs the program until a run does what is looked for.
static Expected<launch::ProcessEnd>
recordTries(ArrayRef<const char *> Arguments,
            const launch::InheritedDescriptors &Inherited) {
  Expected<launch::ProgramFile> Program =
      launch::findProgramInPath(Arguments[0]);
  if (!Program)
    return Program.takeError();
  Expected<recording::OutputFile> Trace = chooseOutput(*Program, nullptr);
  if (!Trace)
    return Trace.takeError();
  // The file is not there until a run was found.
  (void)sys::fs::remove(Trace->Path);
  recording::SummaryFile Summary(SummaryPath);
  if (Error E = Summary.open())
    return E;
  auto Run = [&](const tries::Try &Which) -> tries::TryReport {
    RecordResult Result;
    if (Error E = record(Arguments, Inherited, &Which, Result))
      return tries::failedTry(std::move(E));
    if (Error E = incompleteTrace(Result))
      return tries::failedTry(std::move(E));
    Result.Trace = Trace->Path;
    std::string Text;
    raw_string_ostream Stream(Text);
    printSummary(Stream, Result);
    return tries::endedTry(Result.End, Result.Met, summaryJson(Result), Text);
  };
  LiveLine Line;
  Expected<tries::TrySummary> About =
      tries::runTries(Tries, Trace->Path, Run, [&](StringRef Text) {
        if (!Quiet && !Text.empty())
          Line.update(Text);
        else
          Line.clear();
      });
  if (!About)
    return About.takeError();
  if (Json)
    errs() << json::Value(About->json()) << '\n';
  else if (!Quiet)
    About->print(errs());
  if (Error E = Summary.write(About->json()))
    return E;
  return About->end();
}

static int runRecord(ArrayRef<const char *> Program) {
  launch::reserveStandardStreams();
  const launch::InheritedDescriptors Inherited;
  if (std::string Wrong = wrongOptions(); !Wrong.empty())
    return failUsage(Record, Wrong);
  if (Program.empty())
    return failUsage(Record, "no program given: name it after the options");
  Expected<launch::ProcessEnd> End = Tries.wanted()
                                         ? recordTries(Program, Inherited)
                                         : recordOnce(Program, Inherited);
  if (!End) {
    auto [Status, Text] = launch::describe(End.takeError());
    return fail(Record, Status, Text);
  }
  launch::endAs(*End);
}

} // namespace chronicle::cli
