// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/RecordReport.h"
#include "recorder/launch/LaunchError.h"
#include "recorder/launch/RecorderLog.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include <unistd.h>

using namespace llvm;

namespace chronicle::cli {

namespace {
/// The live line appears only after the program has written nothing for this
/// long, so that short runs never show it.
constexpr std::chrono::milliseconds Silence(1000);
constexpr size_t MaxMessages = 5;
} // namespace

static double bytesPerInstruction(uint64_t Bytes, uint64_t Instructions) {
  return Instructions ? double(Bytes) / double(Instructions) : 0;
}

answers::RunEnd runEnd(const launch::ProcessEnd &End) {
  using Kind = answers::RunEnd::Kind;
  return {End.BySignal ? Kind::Signal : Kind::Exit, uint32_t(End.Code)};
}

answers::RunEnd runEnd(const RecordResult &R) {
  return answers::RunEnd::named(R.Index.Reason, R.Index.Code);
}

/// Whether what the program's process became was recorded, too.
static bool recordedLater(const RecordResult &R) {
  return any_of(R.Others, [&](const tree::ProcessResult &P) {
    return P.Process == R.Process;
  });
}

static answers::RunEnd runEnd(const tree::ProcessResult &P) {
  return answers::RunEnd::named(P.Index.Reason, P.Index.Code);
}

/// One sentence about the end of the program and of the trace.
static std::string outcomeText(const RecordResult &R) {
  if (R.End.Interrupted)
    return "the recording was interrupted and the program was ended";
  if (R.End.TimedOut)
    return "the program had not ended after " + humanDuration(R.TimeLimit) +
           ", and was ended";
  const answers::RunEnd Recorded = runEnd(R);
  const std::string Process = runEnd(R.End).text();
  if (Recorded.How == answers::RunEnd::Kind::Exec)
    return "the program replaced itself with another program, which " +
           std::string(recordedLater(R) ? "" : "was not recorded and ") +
           Process;
  // What ended then is the recorder.
  if (Recorded.How == answers::RunEnd::Kind::RecorderFailed)
    return "the program " + Recorded.text();
  return "the program " + Process + (R.Place.empty() ? "" : " in " + R.Place) +
         (Recorded.cutShort() ? ", after the end of the trace" : "");
}

/// A word that a shell takes as it is.
static std::string shellQuoted(StringRef Word) {
  auto Plain = [](char C) {
    return isAlnum(C) || StringRef("_./+,:@%=-").contains(C);
  };
  if (!Word.empty() && llvm::all_of(Word, Plain))
    return Word.str();
  std::string Quoted = "'";
  for (char C : Word)
    Quoted += C == '\'' ? "'\\''" : std::string(1, C);
  return Quoted + "'";
}

void dropFatalSignalReport(std::vector<std::string> &Messages) {
  auto IsReport = [](StringRef Message) {
    return Message.starts_with("Process terminating with default action");
  };
  Messages.erase(llvm::find_if(Messages, IsReport), Messages.end());
}

std::string whyItEnded(const launch::ProcessEnd &End,
                       ArrayRef<std::string> Messages) {
  return Messages.empty() ? "it " + runEnd(End).text()
                          : launch::fatalMessage(Messages);
}

Error startFailure(const RecordResult &R) {
  launch::LaunchStatus Status = launch::StatusOurFailure;
  if (!R.End.BySignal && (R.End.Code == launch::StatusCannotRun ||
                          R.End.Code == launch::StatusNotFound))
    Status = launch::LaunchStatus(R.End.Code);
  return launch::launchError(Status, "Valgrind could not start the program: " +
                                         whyItEnded(R.End, R.Messages));
}

Error incompleteTrace(const RecordResult &R) {
  if (R.Index.Failure.empty() || R.Removed)
    return Error::success();
  return launch::launchError(launch::StatusOurFailure,
                             "the trace is not complete: " + R.Index.Failure +
                                 "; the program " + runEnd(R.End).text());
}

indexer::EndInfo endInfo(const RecordResult &R) {
  indexer::EndInfo End;
  End.Seconds = R.FirstSeconds;
  End.Process = R.Process;
  End.PeakProgramKb = R.End.PeakKb;
  End.PeakIndexerKb = R.PeakIndexerKb;
  End.Reason = R.End.Interrupted || R.End.TimedOut ? "stopped" : "killed";
  End.Code = R.End.Code;
  // The recorder reports every end of the program but one by SIGKILL.
  if (!R.End.BySignal) {
    End.Reason = "recorder-failed";
    End.Failure = "the recorder failed: " + whyItEnded(R.End, R.Messages);
  }
  (R.End.BySignal ? End.Signal : End.ExitStatus) = R.End.Code;
  return End;
}

/// The counts of all processes together.
static indexer::IndexSummary totals(const RecordResult &R) {
  indexer::IndexSummary Sum = R.Index;
  for (const tree::ProcessResult &P : R.Others) {
    Sum.Instructions += P.Index.Instructions;
    Sum.Superblocks += P.Index.Superblocks;
    Sum.Events += P.Index.Events;
    Sum.Threads += P.Index.Threads;
    Sum.FileBytes += P.Index.FileBytes;
    Sum.UnreportedWrites += P.Index.UnreportedWrites;
  }
  return Sum;
}

/// What the summary says about processes beside the program itself.
static void printOthers(raw_ostream &Out, const RecordResult &R) {
  size_t Shown = 0, Failed = 0;
  for (auto [P, Place] : zip_equal(R.Others, R.OtherPlaces)) {
    const answers::RunEnd End = runEnd(P);
    if (!End.signal() && !End.cutShort() &&
        (End.How != answers::RunEnd::Kind::Exit || End.Code == 0) &&
        P.Index.Failure.empty())
      continue;
    if (++Failed > MaxMessages)
      continue;
    ++Shown;
    Out << "  ";
    WithColor(Out, raw_ostream::RED)
        << "#" << P.Number << " " << shownText(P.Program) << " (" << P.Process
        << ") " << End.text() << (Place.empty() ? "" : " in " + Place);
    Out << '\n';
  }
  if (Failed > Shown)
    Out << "  " << Failed - Shown << " more failed (shown by chronicle ps)\n";
  for (const tree::UnrecordedProgram &P :
       ArrayRef(R.Unrecorded).take_front(MaxMessages))
    Out << "  not recorded: " << shownText(P.Program) << " (" << P.Process
        << "): " << shownText(P.Why) << '\n';
  if (R.Unrecorded.size() > MaxMessages)
    Out << "  " << R.Unrecorded.size() - MaxMessages
        << " more programs not recorded (shown by --json)\n";
}

void printSummary(raw_ostream &Out, const RecordResult &R) {
  const indexer::IndexSummary S = R.Others.empty() ? R.Index : totals(R);
  auto Plural = [](uint64_t Count, const char *Noun) {
    return groupedDigits(Count) + " " + Noun + (Count == 1 ? "" : "s");
  };
  Out << "chronicle: recorded " << R.Program;
  if (!R.Others.empty())
    Out << " and " << Plural(R.Others.size(), "more program");
  Out << " into " << R.Trace << '\n';
  Out << "  " << Plural(S.Instructions, "instruction") << " in "
      << humanDuration(R.Seconds);
  if (R.Seconds > 0)
    Out << " (" << humanCount(double(S.Instructions) / R.Seconds)
        << " per second)";
  Out << ", " << Plural(S.Superblocks, "superblock") << ", "
      << Plural(S.Threads, "thread") << ", " << Plural(S.Events, "event")
      << '\n';
  Out << "  " << humanBytes(S.FileBytes) << ", "
      << formatv("{0:f3}", bytesPerInstruction(S.FileBytes, S.Instructions))
      << " bytes per instruction\n";
  if (R.Chaos)
    Out << "  chaos by seed " << *R.Chaos << " (--chaos=" << *R.Chaos
        << " decides the same again)\n";
  if (R.Translations)
    Out << "  " << Plural(R.Translations->needed, "translation") << ", "
        << groupedDigits(R.Translations->stored)
        << " from earlier recordings\n";
  if (!R.CacheNote.empty())
    Out << "  " << R.CacheNote << '\n';
  if (S.UnreportedWrites)
    Out << "  " << Plural(S.UnreportedWrites, "write")
        << " to memory not reported by Valgrind; found and repaired\n";
  Out << "  ";
  const bool Failed = R.End.BySignal || R.End.Code != 0;
  WithColor(Out, Failed ? raw_ostream::RED : raw_ostream::GREEN)
      << outcomeText(R);
  Out << '\n';
  printOthers(Out, R);
  for (size_t I = 0; I < std::min(R.Notes.size(), MaxMessages); ++I)
    Out << "  " << R.Notes[I] << '\n';
  if (R.Notes.size() > MaxMessages)
    Out << "  " << R.Notes.size() - MaxMessages
        << " more notes (shown by --json)\n";
  for (size_t I = 0; I < std::min(R.Messages.size(), MaxMessages); ++I)
    Out << "  valgrind: " << R.Messages[I] << '\n';
  if (R.Messages.size() > MaxMessages)
    Out << "  valgrind: " << R.Messages.size() - MaxMessages
        << " more lines (shown by --json)\n";
  Out << "Next: ";
  WithColor(Out, raw_ostream::SAVEDCOLOR, /*Bold=*/true)
      << "chronicle debug " << shellQuoted(R.Trace);
  if (!R.Others.empty())
    Out << ", or chronicle ps " << shellQuoted(R.Trace);
  Out << '\n';
}

static json::Array othersJson(const RecordResult &R) {
  json::Array List;
  for (size_t I = 0; I < R.Others.size(); ++I) {
    const tree::ProcessResult &P = R.Others[I];
    const StringRef Place =
        I < R.OtherPlaces.size() ? StringRef(R.OtherPlaces[I]) : StringRef();
    json::Array Messages;
    for (const std::string &Message : P.Messages)
      Messages.push_back(shownText(Message));
    json::Object Object = toJSON(runEnd(P));
    Object["number"] = P.Number;
    Object["pid"] = P.Process;
    Object["program"] = shownText(P.Program);
    Object["trace"] = shownText(P.Trace);
    Object["instructions"] = P.Index.Instructions;
    Object["bytes"] = P.Index.FileBytes;
    Object["seconds"] = P.Seconds;
    Object["unreported-writes"] = P.Index.UnreportedWrites;
    Object["failure"] = P.Index.Failure.empty()
                            ? json::Value(nullptr)
                            : json::Value(shownText(P.Index.Failure));
    Object["place"] =
        Place.empty() ? json::Value(nullptr) : json::Value(shownText(Place));
    Object["messages"] = std::move(Messages);
    List.push_back(std::move(Object));
  }
  return List;
}

static json::Array unrecordedJson(const RecordResult &R) {
  json::Array List;
  for (const tree::UnrecordedProgram &P : R.Unrecorded)
    List.push_back(json::Object{{"pid", P.Process},
                                {"program", shownText(P.Program)},
                                {"why", shownText(P.Why)}});
  return List;
}

json::Object summaryJson(const RecordResult &R) {
  const indexer::IndexSummary &S = R.Index;
  json::Array Messages, Notes;
  for (const std::string &Note : R.Notes)
    Notes.push_back(shownText(Note));
  for (const std::string &Message : R.Messages)
    Messages.push_back(shownText(Message));
  json::Object Result = toJSON(runEnd(R));
  json::Object More{
      {"program", shownText(R.Program)},
      {"trace",
       R.Removed ? json::Value(nullptr) : json::Value(shownText(R.Trace))},
      {"instructions", S.Instructions},
      {"executions", S.Executions},
      {"superblocks", S.Superblocks},
      {"blocks", S.Blocks},
      {"threads", S.Threads},
      {"events", S.Events},
      {"seconds", R.Seconds},
      {"bytes", S.FileBytes},
      {"bytes-per-instruction",
       bytesPerInstruction(S.FileBytes, S.Instructions)},
      {"opaque-bytes", S.OpaqueBytes},
      {"unreported-writes", S.UnreportedWrites},
      {"outside-writes", S.OutsideWrites},
      {"exit-status",
       R.End.BySignal ? json::Value(nullptr) : json::Value(R.End.Code)},
      {"signal",
       R.End.BySignal ? json::Value(R.End.Code) : json::Value(nullptr)},
      {"place", R.Place.empty() ? json::Value(nullptr)
                                : json::Value(shownText(R.Place))},
      {"interrupted", R.End.Interrupted},
      {"timed-out", R.End.TimedOut},
      {"chaos", R.Chaos ? json::Value(*R.Chaos) : json::Value(nullptr)},
      {"failure", S.Failure.empty() ? json::Value(nullptr)
                                    : json::Value(shownText(S.Failure))},
      {"peak-program-kb", R.End.PeakKb},
      {"peak-indexer-kb", R.PeakIndexerKb},
      {"notes", std::move(Notes)},
      {"translations", R.Translations ? json::Value(R.Translations->needed)
                                      : json::Value(nullptr)},
      {"stored-translations", R.Translations
                                  ? json::Value(R.Translations->stored)
                                  : json::Value(nullptr)},
      {"cache-note", R.CacheNote.empty() ? json::Value(nullptr)
                                         : json::Value(shownText(R.CacheNote))},
      {"messages", std::move(Messages)},
      {"pid", R.Process},
      {"others", othersJson(R)},
      {"unrecorded", unrecordedJson(R)}};
  for (auto &[Key, Value] : More)
    Result[Key] = std::move(Value);
  return Result;
}

RecordDisplay::RecordDisplay()
    : Line(LiveLine::BelowCursor), SharesTerminal(isatty(STDOUT_FILENO)),
      Start(Clock::now()), LastTick(Start), LastOutput(Start) {}

void RecordDisplay::update(const indexer::IndexerProgress &P, StringRef Hint) {
  Clock::time_point Now = Clock::now();
  uint64_t Instructions = P.Instructions;
  double Tick = std::chrono::duration<double>(Now - LastTick).count();
  // Smoothed, so that the number is readable.
  if (Tick > 0) {
    double Current = double(Instructions - LastInstructions) / Tick;
    Rate = Rate == 0 ? Current : 0.7 * Rate + 0.3 * Current;
  }
  LastInstructions = Instructions;
  LastTick = Now;

  if (uint64_t Outputs = P.Outputs; Outputs != LastOutputs) {
    LastOutputs = Outputs;
    if (SharesTerminal)
      LastOutput = Now;
  }
  if (Now - LastOutput < Silence) {
    Line.clear();
    return;
  }
  uint64_t Bytes = P.FileBytes;
  // The hint comes first, because narrow terminals cut off the end.
  std::string Text =
      formatv("{0}: {1} instructions, {2}/s, {3}, {4:f3} bytes per instruction",
              Hint.empty() ? "recording" : Hint,
              humanCount(double(Instructions)), humanCount(Rate),
              humanBytes(Bytes), bytesPerInstruction(Bytes, Instructions));
  Line.update(Text);
}

} // namespace chronicle::cli
