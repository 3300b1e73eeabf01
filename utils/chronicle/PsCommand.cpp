// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// `chronicle ps`: lists the processes of a run.

#include "query/processes/RunDirectory.h"
#include "trace-format/Text.h"
#include "utils/chronicle/Subcommand.h"
#include "utils/chronicle/Terminal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace chronicle::cli {

static int run(ArrayRef<const char *>);
static Command Ps(
    {.Name = "ps",
     .Summary = "list the processes of a recorded run",
     .Arguments = "[options] trace.db",
     .Details =
         "Shows one line per program that a process of the run was: its number "
         "in the run, the process's number, the seconds since the start of "
         "the run at which it began and ended, instructions, the size of its "
         "trace, how it ended and its command line. A program that another one "
         "started stands below that one, indented; so does, without an indent, "
         "a program that the same process became by exec. Those that failed "
         "stand out in red.\n\n"
         "Other commands choose one of the processes by --process.",
     .Examples = "  chronicle ps trace.db\n"
                 "  chronicle debug --process '#3' trace.db\n"
                 "  chronicle ps --json trace.db\n",
     .Statuses = {{"0", "The run was read, even if some traces are damaged."},
                  {"2", "The run cannot be read, or an option is wrong."}},
     .Run = run});
static cl::opt<std::string> Path(cl::Positional, cl::sub(Ps));
static cl::opt<bool> Json("json", cl::sub(Ps),
                          cl::desc("Print one JSON array"));

using processes::RunProcess;

static json::Value orNull(std::optional<double> Number) {
  return Number ? json::Value(*Number) : json::Value(nullptr);
}

static json::Value orNull(std::optional<int64_t> Number) {
  return Number ? json::Value(*Number) : json::Value(nullptr);
}

static json::Object toJson(const RunProcess &P) {
  json::Array Arguments;
  for (const std::string &A : P.Arguments)
    Arguments.push_back(shownText(A));
  json::Object Result = toJSON(P.End);
  json::Object More{
      {"number", P.Number},
      {"pid", orNull(P.Process)},
      {"parent", P.Parent ? json::Value(P.Parent) : json::Value(nullptr)},
      {"parent-pid", orNull(P.ParentProcess)},
      {"how", P.Parent == 0 ? "start"
              : P.Replaced  ? "exec"
              : P.ForkedAt  ? "fork"
                            : "spawn"},
      {"program", shownText(P.Program)},
      {"arguments", std::move(Arguments)},
      {"started", orNull(P.Started)},
      {"seconds", orNull(P.Seconds)},
      {"instructions", P.Instructions},
      {"bytes", P.Bytes},
      {"failed", P.failed()},
      {"trace", shownText(P.Trace)},
      {"unreadable", P.Unreadable.empty()
                         ? json::Value(nullptr)
                         : json::Value(shownText(P.Unreadable))}};
  for (auto &[Key, Value] : More)
    Result[Key] = std::move(Value);
  return Result;
}

namespace {
struct Row {
  const RunProcess *P;
  unsigned Depth;
};
} // namespace

/// The tree, parents before children. A parent that has no trace counts as
/// none.
static void addRows(std::vector<Row> &Rows, ArrayRef<RunProcess> All,
                    uint32_t Parent, unsigned Depth) {
  auto Known = [&](uint32_t Number) {
    return any_of(All, [&](const RunProcess &P) { return P.Number == Number; });
  };
  for (const RunProcess &P : All) {
    // Numbers grow from parent to child, so this ends even if a trace lies.
    const uint32_t Of = P.Parent < P.Number && Known(P.Parent) ? P.Parent : 0;
    if (Of != Parent)
      continue;
    Rows.push_back({&P, P.Replaced && Of ? Depth - 1 : Depth});
    addRows(Rows, All, P.Number, Rows.back().Depth + 1);
  }
}

static std::string commandLine(const RunProcess &P) {
  if (!P.Unreadable.empty())
    return P.Unreadable;
  std::string Text;
  ListSeparator Space(" ");
  for (const std::string &A : P.Arguments) {
    Text += StringRef(Space);
    Text += A;
  }
  return shownText(Text.empty() ? P.Program : Text);
}

/// How the program ended; a program that became another one says which.
static std::string endText(const RunProcess &P, ArrayRef<RunProcess> All) {
  if (!P.Unreadable.empty())
    return "unreadable";
  if (P.End.How != answers::RunEnd::Kind::Exec)
    return P.End.text();
  for (const RunProcess &Next : All)
    if (Next.Replaced && Next.Parent == P.Number)
      return ("became #" + Twine(Next.Number)).str();
  return "became an unrecorded program";
}

static void printTable(ArrayRef<RunProcess> All) {
  std::vector<Row> Rows;
  addRows(Rows, All, 0, 0);
  double Start = 0;
  for (const RunProcess &P : All)
    if (P.Started && (Start == 0 || *P.Started < Start))
      Start = *P.Started;
  outs() << "   #      pid     begin       end  instructions        size  "
            "how it ended              command\n";
  for (const auto &[P, Depth] : Rows) {
    auto Seconds = [&](std::optional<double> Time) {
      return Time ? formatv("{0:f3}", *Time - Start).str() : std::string("?");
    };
    std::optional<double> End;
    if (P->Started && P->Seconds)
      End = *P->Started + *P->Seconds;
    outs() << formatv("{0,4} {1,8} {2,9} {3,9} {4,13} {5,11}  ", P->Number,
                      P->Process ? itostr(*P->Process) : "?",
                      Seconds(P->Started), Seconds(End),
                      groupedDigits(P->Instructions), humanBytes(P->Bytes));
    const std::string How = formatv("{0,-24}  ", endText(*P, All));
    if (P->failed() || !P->Unreadable.empty())
      WithColor(outs(), raw_ostream::RED) << How;
    else
      outs() << How;
    outs().indent(2 * Depth) << commandLine(*P) << '\n';
  }
}

static int run(ArrayRef<const char *>) {
  if (Path.empty())
    return failNoTrace(Ps);
  Expected<std::vector<RunProcess>> All = processes::readRun(Path);
  if (!All)
    return fail(Ps, 2, All.takeError());
  if (!Json) {
    printTable(*All);
    return 0;
  }
  json::Array List;
  for (const RunProcess &P : *All)
    List.push_back(toJson(P));
  outs() << formatv("{0:2}", json::Value(std::move(List))) << '\n';
  return 0;
}

} // namespace chronicle::cli
