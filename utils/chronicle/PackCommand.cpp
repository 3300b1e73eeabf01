// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle pack`: puts the files of the recorded program into the trace, so
/// that it can be debugged where they are not.

#include "query/files/PackedTree.h"
#include "query/pack/TracePacking.h"
#include "trace-format/Text.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Pack(
    {.Name = "pack",
     .Summary = "put programs, libraries and sources into a trace",
     .Arguments = "[options] trace.db",
     .Details =
         "Adds the program, its libraries and their debug files to the trace, "
         "and with --sources the\nsource files, so that it can be debugged on "
         "another machine as on this one. A file that is not\nthe one that was "
         "recorded is left out, and the report says so. Packing again adds "
         "only what is\nmissing. Ctrl-C leaves the trace as it was.",
     .Examples = "  chronicle pack trace.db\n"
                 "  chronicle pack --sources trace.db\n"
                 "  chronicle pack --list trace.db\n"
                 "  chronicle pack --extract files trace.db\n",
     .Statuses = {{"0", "All files are in the trace, or those asked for were "
                        "listed or written."},
                  {"1", "Something was left out."},
                  {"2", "The trace cannot be read or written, or an option "
                        "is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Pack));
static ProcessFlag Process(Pack);
static cl::opt<bool>
    Sources("sources", cl::sub(Pack),
            cl::desc("Add the sources that the line tables name"));
static cl::opt<bool> List("list", cl::sub(Pack),
                          cl::desc("Only list the files in the trace"));
static cl::opt<std::string>
    Extract("extract", cl::sub(Pack), cl::value_desc("DIR"),
            cl::desc("Only write the files in the trace below DIR"));
static cl::opt<bool> Json("json", cl::sub(Pack),
                          cl::desc("Print one JSON object"));
static FileFlags Files(Pack);

static volatile std::sig_atomic_t Interrupted = 0;

static int list(const files::PackedTree &Tree) {
  if (Json) {
    json::Array All;
    for (const pieces::PackedFile &F : Tree.files())
      All.push_back(
          json::Object{{"kind", pieces::packedKindName(F.Kind)},
                       {"path", shownText(F.Path)},
                       {"build-id", F.BuildId},
                       {"size", F.Size},
                       {"blake3", toHex(F.Digest, /*LowerCase=*/true)}});
    outs() << json::Value(json::Object{{"files", std::move(All)}}) << '\n';
    return 0;
  }
  for (const pieces::PackedFile &F : Tree.files())
    outs() << formatv("{0,-13} {1,14}  {2}\n", pieces::packedKindName(F.Kind),
                      groupedDigits(F.Size), F.Path);
  return 0;
}

static int extract(const files::PackedTree &Tree) {
  std::error_code Code;
  sys::fs::directory_iterator First(Extract, Code);
  if (!Code && First != sys::fs::directory_iterator())
    return fail(Pack, 2,
                "'" + Extract +
                    "' is not empty: name a new "
                    "directory");
  SmallString<256> Root(Extract);
  if (std::error_code Wrong = sys::fs::make_absolute(Root))
    return fail(Pack, 2, Wrong.message());
  uint64_t Bytes = 0;
  for (const pieces::PackedFile &F : Tree.files()) {
    if (Error E = Tree.extractTo(Root, F))
      return fail(Pack, 2, std::move(E));
    Bytes += F.Size;
  }
  if (Json)
    outs() << json::Value(json::Object{{"directory", shownText(Root)},
                                       {"files", Tree.files().size()},
                                       {"size", Bytes}})
           << '\n';
  else
    outs() << formatv("{0} files, {1}, written to {2}\n", Tree.files().size(),
                      humanBytes(Bytes), Extract.getValue());
  return 0;
}

/// --list and --extract.
static int show() {
  Expected<std::unique_ptr<file::TraceReader>> Reader =
      file::TraceReader::open(Path);
  if (!Reader)
    return fail(Pack, 2, Reader.takeError());
  files::PackedTree Tree(**Reader);
  if (!Tree.problem().empty())
    return fail(Pack, 2, Tree.problem());
  return List ? list(Tree) : extract(Tree);
}

/// The report, for a person.
static std::string packText(const pack::PackReport &Report, StringRef Trace) {
  std::string Text;
  raw_string_ostream Out(Text);
  uint64_t Counts[pieces::LastPackedKind + 1] = {}, Bytes = 0;
  for (const pack::PackReport::Packed &P : Report.Added) {
    ++Counts[uint8_t(P.Kind)];
    Bytes += P.Bytes;
  }
  auto Plural = [](uint64_t N, StringRef Noun) {
    return (groupedDigits(N) + " " + Noun + (N == 1 ? "" : "s")).str();
  };
  if (Report.Added.empty()) {
    Out << "chronicle: nothing to add to " << Trace << ": "
        << Plural(Report.AlreadyThere, "file") << " packed before\n";
  } else {
    Out << "chronicle: packed " << Counts[unsigned(pieces::PackedKind::Module)]
        << " programs and libraries, "
        << Plural(Counts[unsigned(pieces::PackedKind::Debug)] +
                      Counts[unsigned(pieces::PackedKind::Supplementary)],
                  "debug file")
        << " and "
        << Plural(Counts[unsigned(pieces::PackedKind::Source)], "source")
        << " into " << Trace << '\n'
        << "  " << humanBytes(Bytes) << " of files; the trace grew by "
        << humanBytes(Report.Grown);
    if (Report.AlreadyThere)
      Out << "; " << Plural(Report.AlreadyThere, "file") << " packed before";
    Out << '\n';
  }
  for (const pack::PackReport::LeftOut &L : Report.Missing)
    Out << "  left out: " << L.Path << ": " << L.Why << '\n';
  for (const auto &[Module, Count] : Report.AbsentSources)
    Out << "  " << Plural(Count, "source") << " of " << Module
        << (Count == 1 ? " is not on this machine as it was\n"
                       : " are not on this machine as they were\n");
  return Text;
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Pack);
  if (List && !Extract.empty())
    return failUsage(Pack, "--list and --extract exclude each other");
  if ((List || !Extract.empty()) && Sources)
    return failUsage(Pack, "--sources adds files: leave out --list and "
                           "--extract");
  if (std::string Wrong = Files.wrong(); !Wrong.empty())
    return failUsage(Pack, Wrong);
  if (Error E = Process.choose(Path))
    return fail(Pack, 2, std::move(E));
  if (List || !Extract.empty())
    return show();
  // A second Ctrl-C ends the program at once; then the next reader or packer
  // finds out that this one did not finish.
  struct sigaction Action = {};
  Action.sa_handler = [](int) { Interrupted = 1; };
  Action.sa_flags = int(SA_RESETHAND);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(Signal, &Action, nullptr);
  pack::PackOptions Options;
  Options.Sources = Sources;
  Options.Files = Files.options();
  LiveLine Line;
  Expected<pack::PackReport> Report =
      pack::packTrace(Path, Options, [&](StringRef File, uint64_t Bytes) {
        Line.update(formatv("pack: {0}, {1}", humanBytes(Bytes), File).str());
        return !Interrupted;
      });
  Line.clear();
  if (!Report)
    return fail(Pack, 2, Report.takeError());
  if (Json)
    outs() << json::Value(pack::toJSON(*Report)) << '\n';
  else
    outs() << packText(*Report, Path);
  return Report->Missing.empty() ? 0 : 1;
}

} // namespace chronicle::cli
