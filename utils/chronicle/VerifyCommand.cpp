// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle verify`: replays a whole trace and reports whether it is exact.

#include "query/Verifier.h"
#include "query/answers/ReplayError.h"
#include "trace-format/Text.h"
#include "trace-format/file/TraceReader.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Verify(
    {.Name = "verify",
     .Summary = "replay a trace and check that it is exact",
     .Arguments = "[options] trace.db",
     .Details =
         "Replays every block from its snapshot and the reconstructed "
         "memory, and compares all registers\nand every byte written "
         "with what was recorded. One block in eight is interpreted, as "
         "it is for\nquestions. In the others, code that runs often is "
         "replayed as native code.\n\nOf a run of several processes, --process "
         "all verifies every one, with a line for each.",
     .Examples = "  chronicle verify trace.db\n"
                 "  chronicle verify --process all trace.db\n"
                 "  chronicle verify -j 4 --json trace.db\n",
     .Statuses = {{"0", "The trace is exact and complete."},
                  {"1", "Something differs, or the trace is not complete."},
                  {"2", "The file cannot be read, or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Verify));
static ProcessFlag Process(Verify);
static cl::opt<bool> Json("json", cl::sub(Verify),
                          cl::desc("Print one JSON object"));
static NumberOption<unsigned>
    Jobs("jobs", cl::sub(Verify), cl::init(0), cl::value_desc("N"),
         cl::desc("Use N threads (default one per processor)"));
static ShortName JobsLetter("j", Jobs);
static NumberOption<unsigned long long>
    MemoryMb("memory-mb", cl::sub(Verify), cl::init(1024), cl::value_desc("N"),
             cl::desc("Keep up to N MiB of pages (default 1024)"));
static cl::opt<bool>
    Interpret("interpret", cl::sub(Verify),
              cl::desc("Interpret all blocks, which is slower"));
static NumberOption<unsigned long long>
    MaxMismatches("max-mismatches", cl::sub(Verify), cl::init(20),
                  cl::value_desc("N"),
                  cl::desc("Show at most N mismatches (default 20)"));

static std::vector<std::pair<uint64_t, uint32_t>>
opaqueByAmount(const query::VerifyReport &R) {
  std::vector<std::pair<uint64_t, uint32_t>> Result;
  for (auto [Reason, Bytes] : R.OpaqueByReason)
    if (Bytes)
      Result.emplace_back(Bytes, Reason);
  llvm::sort(Result, [](auto &A, auto &B) {
    return A.first != B.first ? A.first > B.first : A.second < B.second;
  });
  return Result;
}

static std::string reasonText(const file::TraceReader &T, uint32_t Reason) {
  StringRef Name = T.reasonName(Reason);
  return Name.empty() ? ("reason " + Twine(Reason)).str() : Name.str();
}

static uint64_t unreportedWrites(const file::TraceReader &T) {
  if (const json::Object *End = T.end())
    return End->getInteger("unreported-writes").value_or(0);
  return 0;
}

static double perInstruction(uint64_t Amount, const query::VerifyReport &R) {
  return R.Instructions ? double(Amount) / double(R.Instructions) : 0;
}

static void printJson(const file::TraceReader &T,
                      const query::VerifyReport &R) {
  json::Object Opaque;
  for (auto [Bytes, Reason] : opaqueByAmount(R))
    Opaque[reasonText(T, Reason)] = Bytes;
  json::Array Mismatches;
  for (const replay::Mismatch &M : R.Mismatches)
    Mismatches.push_back(json::Object{
        {"block", M.Block},
        {"timestamp", M.Time},
        {"thread", M.Thread},
        {"superblock", M.Superblock},
        {"address", M.SuperblockAddress},
        {"what", shownText(M.What)},
    });
  outs() << formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"clean", R.clean()},
          {"incomplete", R.Incomplete.empty()
                             ? json::Value(nullptr)
                             : json::Value(shownText(R.Incomplete))},
          {"blocks", R.Blocks},
          {"interpreted-blocks", R.InterpretedBlocks},
          {"instructions", R.Instructions},
          {"executions", R.Executions},
          {"seconds", R.Seconds},
          {"instructions-per-second",
           R.Seconds > 0 ? double(R.Instructions) / R.Seconds : 0},
          {"threads", R.Threads},
          {"compared-snapshots", R.ComparedSnapshots},
          {"compared-granules", R.ComparedGranules},
          {"opaque-bytes", R.OpaqueBytes},
          {"opaque", std::move(Opaque)},
          {"absent-frames", R.AbsentFrames},
          {"unreported-writes", unreportedWrites(T)},
          {"mismatches", R.MismatchCount},
          {"mismatch-list", std::move(Mismatches)},
          {"advice", R.MismatchCount
                         ? json::Value(answers::mismatchAdvice(T.run()))
                         : json::Value(nullptr)},
      }));
}

static void printMismatches(const query::VerifyReport &R) {
  for (const replay::Mismatch &M : R.Mismatches) {
    outs() << "mismatch in block " << groupedDigits(M.Block) << " at time "
           << groupedDigits(M.Time);
    if (M.Superblock) {
      outs() << ", superblock " << groupedDigits(M.Superblock);
      if (M.SuperblockAddress)
        outs() << formatv(" ({0:x})", M.SuperblockAddress);
    }
    if (M.Thread)
      outs() << ", thread " << M.Thread;
    outs() << ": " << M.What << '\n';
  }
  if (R.MismatchCount > R.Mismatches.size())
    outs() << "and " << groupedDigits(R.MismatchCount - R.Mismatches.size())
           << " more (see --max-mismatches)\n";
}

static void printText(const file::TraceReader &T,
                      const query::VerifyReport &R) {
  printMismatches(R);
  outs() << "blocks:            " << groupedDigits(R.Blocks) << " ("
         << groupedDigits(R.InterpretedBlocks) << " interpreted)\n"
         << "instructions:      " << groupedDigits(R.Instructions) << '\n'
         << "speed:             "
         << humanCount(R.Seconds > 0 ? double(R.Instructions) / R.Seconds : 0)
         << " instructions/s (" << humanDuration(R.Seconds) << ", " << R.Threads
         << (R.Threads == 1 ? " thread)\n" : " threads)\n")
         << "compared:          " << groupedDigits(R.ComparedSnapshots)
         << " snapshots, " << groupedDigits(R.ComparedGranules) << " granules\n"
         << "opaque bytes:      " << groupedDigits(R.OpaqueBytes)
         << formatv(" ({0:f4} per instruction)\n",
                    perInstruction(R.OpaqueBytes, R));
  constexpr unsigned Shown = 10;
  auto Opaque = opaqueByAmount(R);
  for (auto [Bytes, Reason] : ArrayRef(Opaque).take_front(Shown))
    outs() << formatv("  {0,-16} {1,12}  {2:f4} per instruction\n",
                      reasonText(T, Reason), groupedDigits(Bytes),
                      perInstruction(Bytes, R));
  if (Opaque.size() > Shown)
    outs() << "  and " << Opaque.size() - Shown << " more operations\n";
  outs() << "unreported writes: " << groupedDigits(unreportedWrites(T)) << '\n';
  if (!R.Incomplete.empty())
    outs() << "the trace is not complete: " << R.Incomplete << '\n';
  if (R.MismatchCount)
    outs() << groupedDigits(R.MismatchCount)
           << (R.MismatchCount == 1 ? " mismatch: " : " mismatches: ")
           << answers::mismatchAdvice(T.run()) << '\n';
  else
    outs() << (R.clean() ? "exact\n" : "exact as far as it goes\n");
}

static query::VerifyReport verify(const file::TraceReader &T) {
  query::VerifyOptions Options;
  Options.Threads = Jobs;
  Options.MaxMismatches = MaxMismatches;
  Options.MemoryBytes = MemoryMb << 20;
  Options.Native = !Interpret;
  ProgressBar Bar("verify");
  const uint64_t Total = T.instructions();
  if (Bar.enabled())
    Options.Progress = [&](uint64_t, uint64_t Instructions) {
      Bar.update(Instructions, Total,
                 humanCount(double(Instructions)) + " instructions");
    };
  query::VerifyReport Report = query::verifyTrace(T, Options);
  Bar.clear();
  return Report;
}

/// One line about a process of a run. Returns whether its trace is exact and
/// complete.
static bool verifyOne(const processes::RunProcess &P) {
  outs() << '#' << P.Number << ' ' << P.name();
  if (P.Process)
    outs() << " (" << *P.Process << ')';
  outs() << ": ";
  Expected<std::unique_ptr<file::TraceReader>> T =
      file::TraceReader::open(P.Trace);
  if (!T) {
    outs() << toString(T.takeError()) << '\n';
    return false;
  }
  const query::VerifyReport Report = verify(**T);
  if (!Report.Incomplete.empty())
    outs() << "the trace is not complete: " << Report.Incomplete << ", ";
  if (Report.MismatchCount)
    outs() << groupedDigits(Report.MismatchCount) << " mismatches, ";
  else
    outs() << "exact" << (Report.clean() ? ", " : " as far as it goes, ");
  outs() << groupedDigits(Report.Instructions) << " instructions, "
         << groupedDigits(unreportedWrites(**T)) << " unreported writes\n";
  return Report.clean();
}

/// --process all.
static int verifyAll() {
  if (Json)
    return failUsage(Verify, "--json needs one process: name it by --process");
  Expected<std::vector<processes::RunProcess>> All = processes::readRun(Path);
  if (!All)
    return fail(Verify, 2, All.takeError());
  bool Clean = true;
  for (const processes::RunProcess &P : *All)
    Clean &= verifyOne(P);
  return Clean ? 0 : 1;
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Verify);
  if (Process.Process == "all")
    return verifyAll();
  if (Error E = Process.choose(Path))
    return fail(Verify, 2, std::move(E));
  Expected<std::unique_ptr<file::TraceReader>> Trace =
      file::TraceReader::open(Path);
  if (!Trace)
    return fail(Verify, 2, Trace.takeError());
  const query::VerifyReport Report = verify(**Trace);
  if (Json)
    printJson(**Trace, Report);
  else
    printText(**Trace, Report);
  return Report.clean() ? 0 : 1;
}

} // namespace chronicle::cli
