// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle info`: shows what is known about a run without replaying it.

#include "query/answers/RunEnd.h"
#include "query/answers/SystemCalls.h"
#include "trace-format/FileFormat.h"
#include "trace-format/Text.h"
#include "trace-format/file/Piece.h"
#include "trace-format/file/TraceReader.h"
#include "utils/chronicle/FileFlags.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Info(
    {.Name = "info",
     .Summary = "show what a trace holds",
     .Arguments = "[options] trace.db",
     .Details = "Shows the program, its arguments and environment, the host, "
                "threads, modules, counts, sizes\nand how the run ended. "
                "Nothing is replayed, so it takes no time. The environment and "
                "all that matters to developers only is shown by --all.",
     .Examples = "  chronicle info trace.db\n"
                 "  chronicle info --all trace.db | less\n"
                 "  chronicle info --json trace.db\n",
     .Statuses = {{"0", "The trace was read, even if it is not complete."},
                  {"2", "The file cannot be read, or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Info));
static ProcessFlag Process(Info);
static cl::opt<bool>
    All("all", cl::sub(Info),
        cl::desc("Show the environment, the recorder's options, all counts and "
                 "the parts of the file, too"));
static ShortName AllLetter("a", All);
static cl::opt<bool> Json("json", cl::sub(Info),
                          cl::desc("Print one JSON object"));

static json::Object sizesOf(const file::TraceReader &T) {
  json::Object Sizes;
  ArrayRef<PartSize> Parts = T.partSizes();
  for (unsigned Type = 1; Type < Parts.size(); ++Type)
    if (Parts[Type].Pieces)
      Sizes[file::pieceTypeName(PieceType(Type))] =
          json::Object{{"pieces", Parts[Type].Pieces},
                       {"stored", Parts[Type].Stored},
                       {"raw", Parts[Type].Raw}};
  return Sizes;
}

static int printJson(const file::TraceReader &T) {
  json::Object Result{
      {"path", shownText(T.path())},
      {"file-size", T.fileSize()},
      {"format-version", FormatVersion},
      {"truncated", T.truncated().empty()
                        ? json::Value(nullptr)
                        : json::Value(shownText(T.truncated()))},
      {"directory-rebuilt", T.rebuilt()},
      {"instructions", T.instructions()},
      {"executions", T.executions()},
      {"blocks", int64_t(T.blocks().size())},
      {"superblocks", int64_t(T.superblockCount()) - 1},
      {"page-chunks", int64_t(T.pageChunks().size())},
      {"sizes", sizesOf(T)},
      {"run", json::Object(T.run())},
      {"end",
       T.end() ? json::Value(json::Object(*T.end())) : json::Value(nullptr)}};
  outs() << formatv("{0:2}", json::Value(std::move(Result))) << '\n';
  return 0;
}

static raw_ostream &field(StringRef Name) {
  WithColor(outs(), raw_ostream::SAVEDCOLOR, /*Bold=*/true) << Name << ':';
  return outs().indent(Name.size() < 13 ? 13 - Name.size() : 1);
}

static void heading(StringRef Title) {
  WithColor(outs(), raw_ostream::SAVEDCOLOR, /*Bold=*/true) << Title << ':';
  outs() << '\n';
}

static std::string textOf(const json::Object &O, StringRef Key) {
  const json::Value *V = O.get(Key);
  if (!V)
    return "";
  if (std::optional<StringRef> S = V->getAsString())
    return S->str();
  return formatv("{0}", *V).str();
}

/// An address or another large number, 0 if it is missing.
static uint64_t numberOf(const json::Object &O, StringRef Key) {
  const json::Value *V = O.get(Key);
  return V ? V->getAsUINT64().value_or(0) : 0;
}

static void printRun(const json::Object &Run) {
  field("program") << textOf(Run, "program") << '\n';
  if (const json::Array *Arguments = Run.getArray("arguments")) {
    field("arguments");
    ListSeparator Space(" ");
    for (const json::Value &A : *Arguments)
      outs() << Space << A;
    outs() << '\n';
  }
  field("directory") << textOf(Run, "directory") << '\n';
  if (const json::Object *Host = Run.getObject("host")) {
    field("host") << textOf(*Host, "system") << ' ' << textOf(*Host, "release")
                  << ' ' << textOf(*Host, "machine") << ", "
                  << textOf(*Host, "cpu") << '\n';
  }
  if (std::optional<double> Started = Run.getNumber("started")) {
    std::time_t Time = std::time_t(*Started);
    std::tm Utc = {};
    char Text[64] = "";
    if (gmtime_r(&Time, &Utc))
      std::strftime(Text, sizeof(Text), "%Y-%m-%d %H:%M:%S UTC", &Utc);
    field("started") << Text << '\n';
  }
  field("recorded by") << "chronicle " << textOf(Run, "chronicle")
                       << ", valgrind " << textOf(Run, "valgrind") << '\n';
  if (const json::Object *Options = Run.getObject("options"); Options && All)
    field("options") << json::Value(json::Object(*Options)) << '\n';
}

static void printEnd(const file::TraceReader &T) {
  const json::Object *End = T.end();
  const answers::RunEnd How = answers::RunEnd::of(End);
  const bool Fine = How.How == answers::RunEnd::Kind::Exit && How.Code == 0;
  WithColor(field("end"), Fine ? raw_ostream::GREEN : raw_ostream::RED)
      << "the program " << How.text();
  outs() << '\n';
  if (!End)
    return;
  if (std::optional<double> Seconds = End->getNumber("seconds"))
    field("time") << humanDuration(*Seconds) << '\n';
  field("threads") << textOf(*End, "threads") << '\n';
  // It is known of the process that `chronicle record` started.
  if (End->getInteger("peak-program-kb").value_or(0) == 0)
    return;
  field("memory") << humanBytes(End->getInteger("peak-program-kb").value_or(0) *
                                1024)
                  << " the program, "
                  << humanBytes(End->getInteger("peak-indexer-kb").value_or(0) *
                                1024)
                  << " the indexer\n";
}

/// Prints the members of an object of numbers, largest first.
static void printCounts(StringRef Title, const json::Object *Counts) {
  if (!Counts || Counts->empty())
    return;
  std::vector<std::pair<int64_t, StringRef>> Sorted;
  for (const auto &[Name, Value] : *Counts)
    Sorted.emplace_back(-Value.getAsInteger().value_or(0), Name);
  llvm::sort(Sorted);
  heading(Title);
  for (auto [Count, Name] : Sorted)
    outs() << format("  %16s  ", groupedDigits(-Count).c_str()) << Name << '\n';
}

/// What matters to those who work on Chronicle.
static void printCounters(const file::TraceReader &T) {
  field("superblocks") << groupedDigits(T.superblockCount() - 1)
                       << ", executed " << groupedDigits(T.executions())
                       << " times\n";
  const json::Object *End = T.end();
  if (!End)
    return;
  field("writes") << textOf(*End, "outside-writes") << " from outside, "
                  << textOf(*End, "unreported-writes") << " unreported\n";
  printCounts("events", End->getObject("events"));
  printCounts("opaque bytes by reason", End->getObject("opaque"));
}

/// What an entry of `limits` is about.
static std::string limitText(const json::Object &Limit) {
  const StringRef Kind = Limit.getString("kind").value_or("");
  if (Kind == "system-call") {
    const auto Number = uint32_t(Limit.getInteger("number").value_or(0));
    const StringRef Name = answers::systemCallName(Number);
    return formatv("system call {0}{1}: Valgrind does not know it, and the "
                   "program got ENOSYS",
                   Name.empty() ? "" : Name.str() + ", ", Number);
  }
  if (Kind == "instruction")
    return formatv("instruction {0} at {1:x}: Valgrind does not know it, and "
                   "the program got SIGILL",
                   Limit.getString("bytes").value_or("").take_front(30),
                   numberOf(Limit, "address"));
  if (Kind == "io-uring")
    return "io_uring: what the kernel writes is seen when the program reads "
           "it, not when it was written";
  return Kind.str();
}

static void printLimits(const json::Array *Limits) {
  if (!Limits || Limits->empty())
    return;
  heading("limits met");
  outs() << "             first  times\n";
  for (const json::Value &V : *Limits)
    if (const json::Object *L = V.getAsObject())
      outs() << format("  %16s  %5s  ",
                       groupedDigits(numberOf(*L, "first")).c_str(),
                       groupedDigits(numberOf(*L, "count")).c_str())
             << shownText(limitText(*L)) << '\n';
}

static void printModules(const json::Array *Modules) {
  if (!Modules)
    return;
  heading("modules");
  for (const json::Value &V : *Modules)
    if (const json::Object *M = V.getAsObject()) {
      StringRef Id = M->getString("build-id").value_or("");
      outs() << "  " << format_hex(numberOf(*M, "address"), 18) << "  "
             << left_justify(Id.empty() ? "no build id" : Id, 40) << "  "
             << textOf(*M, "path") << '\n';
    }
}

static void printParts(const file::TraceReader &T) {
  heading("parts of the file");
  outs() << "  part              pieces            stored               raw\n";
  ArrayRef<PartSize> Parts = T.partSizes();
  for (unsigned Type = 1; Type < Parts.size(); ++Type)
    if (Parts[Type].Pieces)
      outs() << formatv("  {0,-12} {1,11} {2,17} {3,17}\n",
                        file::pieceTypeName(PieceType(Type)),
                        groupedDigits(Parts[Type].Pieces),
                        groupedDigits(Parts[Type].Stored),
                        groupedDigits(Parts[Type].Raw));
}

static void printEnvironment(const json::Object &Run) {
  const json::Array *Environment = Run.getArray("environment");
  if (!Environment)
    return;
  heading("environment");
  for (const json::Value &V : *Environment)
    outs() << "  " << V.getAsString().value_or("") << '\n';
}

static void printText(const file::TraceReader &T) {
  if (!T.truncated().empty())
    field("truncated") << T.truncated() << '\n';
  else if (T.rebuilt())
    field("directory")
        << "damaged, rebuilt by scanning; the trace is complete\n";
  printRun(T.run());
  printEnd(T);
  field("instructions") << groupedDigits(T.instructions()) << " in "
                        << groupedDigits(T.blocks().size()) << " blocks\n";
  field("file size") << humanBytes(T.fileSize()) << " ("
                     << groupedDigits(T.fileSize()) << " bytes)";
  if (T.instructions())
    outs() << format(", %.3f bytes per instruction",
                     double(T.fileSize()) / double(T.instructions()));
  outs() << '\n';
  if (All)
    printCounters(T);
  if (const json::Object *End = T.end()) {
    printLimits(End->getArray("limits"));
    printModules(End->getArray("modules"));
  }
  if (All) {
    printParts(T);
    printEnvironment(T.run());
  } else {
    outs() << "\n'chronicle info --all' shows the environment and more.\n";
  }
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Info);
  if (Error E = Process.choose(Path))
    return fail(Info, 2, std::move(E));
  Expected<std::unique_ptr<file::TraceReader>> T =
      file::TraceReader::open(Path);
  if (!T)
    return fail(Info, 2, T.takeError());
  if (Json)
    return printJson(**T);
  printText(**T);
  return 0;
}

} // namespace chronicle::cli
