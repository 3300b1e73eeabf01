// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/RecordReport.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace chronicle {

namespace {
/// Nothing is shown for shorter runs, nor until the program has been silent for
/// so long.
constexpr std::chrono::milliseconds Silence(1000);
constexpr size_t MaxMessages = 5;
} // namespace

static double bytesPerInstruction(uint64_t Bytes, uint64_t Instructions) {
  return Instructions ? double(Bytes) / double(Instructions) : 0;
}

std::string describeEnd(const ProcessEnd &End) {
  if (!End.BySignal)
    return "exit status " + std::to_string(End.Code);
  return formatv("signal {0} ({1})", End.Code, strsignal(End.Code));
}

/// How the run ended, in words.
static std::string describeOutcome(const RecordResult &R) {
  const std::string &Reason = R.Index.Reason;
  if (R.End.Interrupted)
    return "the recording was interrupted and the program ended";
  if (Reason == "exec")
    return "the program replaced itself by another one, which was not recorded "
           "and ended with " +
           describeEnd(R.End);
  std::string Text = "the program ended with " + describeEnd(R.End);
  if (Reason == "stopped" || Reason == "limit" || Reason == "disk-full")
    Text += ", after the end of the trace";
  return Text;
}

std::string summaryText(const RecordResult &R) {
  const IndexSummary &S = R.Index;
  auto Plural = [](uint64_t Count, const char *Noun) {
    return groupedDigits(Count) + " " + Noun + (Count == 1 ? "" : "s");
  };
  std::string Text;
  raw_string_ostream Out(Text);
  Out << "chronicle: recorded " << R.Program << " into " << R.Trace << '\n';
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
  if (S.UnreportedWrites)
    Out << "  " << Plural(S.UnreportedWrites, "write")
        << " to memory came unreported; found and repaired\n";
  Out << "  " << describeOutcome(R) << '\n';
  for (size_t I = 0; I < std::min(R.Messages.size(), MaxMessages); ++I)
    Out << "  valgrind: " << R.Messages[I] << '\n';
  if (R.Messages.size() > MaxMessages)
    Out << "  valgrind: " << R.Messages.size() - MaxMessages
        << " more lines (--json shows them)\n";
  return Text;
}

json::Object summaryJson(const RecordResult &R) {
  const IndexSummary &S = R.Index;
  json::Array Messages;
  for (const std::string &Message : R.Messages)
    Messages.push_back(json::fixUTF8(Message));
  return json::Object{{"program", json::fixUTF8(R.Program)},
                      {"trace", json::fixUTF8(R.Trace)},
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
                      {"reason", S.Reason},
                      {"code", S.Code},
                      {"exit-status", R.End.BySignal ? json::Value(nullptr)
                                                     : json::Value(R.End.Code)},
                      {"signal", R.End.BySignal ? json::Value(R.End.Code)
                                                : json::Value(nullptr)},
                      {"interrupted", R.End.Interrupted},
                      {"failure", S.Failure.empty()
                                      ? json::Value(nullptr)
                                      : json::Value(json::fixUTF8(S.Failure))},
                      {"peak-program-kb", R.End.PeakKb},
                      {"peak-indexer-kb", R.PeakIndexerKb},
                      {"messages", std::move(Messages)}};
}

RecordDisplay::RecordDisplay()
    : Line(LiveLine::BelowCursor), SharesTerminal(isatty(STDOUT_FILENO)),
      Start(Clock::now()), LastTick(Start), LastOutput(Start) {}

void RecordDisplay::update(const IndexerProgress &P, StringRef Hint) {
  Clock::time_point Now = Clock::now();
  uint64_t Instructions = P.Instructions;
  double Tick = std::chrono::duration<double>(Now - LastTick).count();
  // Smoothed, so that the digits can be read.
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
  // The hint first: narrow terminals cut the end off.
  std::string Text =
      formatv("{0}: {1} instructions, {2}/s, {3}, {4:f3} bytes per instruction",
              Hint.empty() ? "recording" : Hint,
              humanCount(double(Instructions)), humanCount(Rate),
              humanBytes(Bytes), bytesPerInstruction(Bytes, Instructions));
  Line.update(Text);
}

} // namespace chronicle
