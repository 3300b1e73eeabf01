// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle index`: makes the index of reads before anybody waits for it.

#include "query/Trace.h"
#include "trace-format/Text.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Index(
    {.Name = "index",
     .Summary = "make the index of reads of a trace",
     .Arguments = "[options] trace.db",
     .Details =
         "Questions about reads need an index, which the first of them makes "
         "by "
         "replaying the whole run.\nThis command makes it beforehand, for "
         "instance right after recording. The index is kept in\n"
         "trace.db.reads, or in the cache directory if that cannot be written. "
         "Nobody else can read it.\n\nCtrl-C ends the command; what is made "
         "already is kept, and the next time it goes on from there.",
     .Examples = "  chronicle index trace.db\n"
                 "  chronicle index --json trace.db\n",
     .Statuses = {{"0", "The index is there."},
                  {"1", "It was interrupted, or the run cannot be replayed."},
                  {"2", "The file cannot be read, or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Index));
static ProcessFlag Process(Index);
static cl::opt<bool> Json("json", cl::sub(Index),
                          cl::desc("Print one JSON object"));

static answers::Cancellation Interrupted;

static void printFacts(const query::Trace &T,
                       const query::Trace::ReadIndexFacts &Facts, bool Made,
                       double Seconds) {
  const double Instructions = double(T.instructions());
  if (Json) {
    outs() << json::Value(json::Object{
                  {"path", Facts.Path.empty()
                               ? json::Value(nullptr)
                               : json::Value(shownText(Facts.Path))},
                  {"made", Made},
                  {"bytes", Facts.Bytes},
                  {"instructions", T.instructions()},
                  {"seconds", Seconds},
              })
           << '\n';
    return;
  }
  outs() << (Made ? "made " : "found ")
         << (Facts.Path.empty() ? "it in memory" : shownText(Facts.Path))
         << ": " << humanBytes(Facts.Bytes)
         << formatv(", {0:f4} bytes per instruction",
                    Instructions > 0 ? double(Facts.Bytes) / Instructions : 0);
  if (Made)
    outs() << formatv(", {0}, {1} instructions per second",
                      humanDuration(Seconds),
                      humanCount(Seconds > 0 ? Instructions / Seconds : 0));
  outs() << '\n';
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Index);
  if (Error E = Process.choose(Path))
    return fail(Index, 2, std::move(E));
  Expected<std::unique_ptr<query::Trace>> T = query::Trace::open(Path);
  if (!T)
    return fail(Index, 2, T.takeError());
  std::signal(SIGINT, [](int) { Interrupted.Cancelled = true; });
  ProgressBar Bar("index");
  std::atomic<bool> Made = false;
  answers::IndexProgress Progress;
  Progress.Cancel = &Interrupted;
  Progress.Step = [&](uint64_t Done, uint64_t Total) {
    Made = true;
    if (Bar.enabled())
      Bar.update(Done, Total, humanCount(double(Done)) + " instructions");
  };
  Progress.Note = [&](StringRef Sentence) {
    Bar.clear();
    errs() << "chronicle index: " << shownText(Sentence) << '\n';
  };
  const auto Start = std::chrono::steady_clock::now();
  auto Facts = (*T)->readIndex(Progress);
  const double Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  Bar.clear();
  if (!Facts)
    return fail(Index, 1, Facts.takeError());
  if (!*Facts)
    return fail(Index, 1,
                createStringError("interrupted; what is made already is kept, "
                                  "and the next time it goes on from there"));
  printFacts(**T, **Facts, Made, Seconds);
  return 0;
}

} // namespace chronicle::cli
