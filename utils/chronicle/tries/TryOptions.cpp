// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tries/TryOptions.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Threading.h"
#include <random>

using namespace llvm;

namespace chronicle::tries {

TryOptions::TryOptions(cl::SubCommand &Record)
    : TriesText("tries", cl::sub(Record), cl::value_desc("N"),
                cl::desc("Run the program up to N times, and keep only the "
                         "trace of a run that fails")),
      UntilText("until", cl::sub(Record), cl::value_desc("WHAT"),
                cl::desc("Which run to keep with --tries: 'failure' (the "
                         "default), 'crash', 'hang', 'status=K', or text that "
                         "it prints")),
      JobsText("jobs", cl::sub(Record), cl::value_desc("N"),
               cl::desc("Number of runs at once with --tries (default: one "
                        "per processor)")),
      TimeoutText("timeout", cl::sub(Record), cl::value_desc("TIME"),
                  cl::desc("End the program after TIME: 30s, 500ms, 2min")),
      ChaosText("chaos", cl::sub(Record), cl::ValueOptional,
                cl::value_desc("SEED"),
                cl::desc("Disturb the schedule of threads and the results of "
                         "system calls, to provoke races")),
      KeepAll("keep-all", cl::sub(Record),
              cl::desc("Keep the trace of the last other run, too")) {}

std::optional<std::chrono::milliseconds> parseDuration(StringRef Text) {
  const StringRef Number = Text.take_while(
      [](char C) { return (C >= '0' && C <= '9') || C == '.'; });
  const double Unit = StringSwitch<double>(Text.drop_front(Number.size()))
                          .Cases({"", "s"}, 1000)
                          .Case("ms", 1)
                          .Cases({"min", "m"}, 60'000)
                          .Case("h", 3'600'000)
                          .Default(0);
  double Value;
  if (Number.empty() || Unit == 0 || Number.getAsDouble(Value))
    return std::nullopt;
  // A month is longer than anything that is worth waiting for.
  const double Result = Value * Unit;
  if (Result < 1 || Result > 31. * 24 * 3'600'000)
    return std::nullopt;
  return std::chrono::milliseconds(int64_t(Result));
}

std::optional<uint64_t> TryOptions::chaos(unsigned Run) const {
  if (!ChaosText.getNumOccurrences())
    return std::nullopt;
  return Seed + Run - 1;
}

static std::string wrongCount(StringRef Option, StringRef Text) {
  return ("invalid --" + Option + " '" + Text + "': expected a number from 1")
      .str();
}

/// Reads a positive number.
static bool readCount(StringRef Text, unsigned &Count) {
  return !Text.getAsInteger(10, Count) && Count > 0;
}

std::string TryOptions::read() {
  Wanted = TriesText.getNumOccurrences() || UntilText.getNumOccurrences();
  if (TriesText.getNumOccurrences() && !readCount(TriesText, Limit))
    return wrongCount("tries", TriesText);
  AtOnce = hardware_concurrency().compute_thread_count();
  if (JobsText.getNumOccurrences() && !readCount(JobsText, AtOnce))
    return wrongCount("jobs", JobsText);
  if (TimeoutText.getNumOccurrences()) {
    std::optional<std::chrono::milliseconds> Time = parseDuration(TimeoutText);
    if (!Time)
      return "invalid --timeout '" + TimeoutText +
             "': expected a time such as 30s, 500ms or 2min";
    TimeLimit = *Time;
  }
  if (ChaosText.getNumOccurrences() && !ChaosText.empty() &&
      StringRef(ChaosText).getAsInteger(10, Seed))
    return "invalid --chaos '" + ChaosText + "': expected a number";
  // Short enough to be typed again.
  if (ChaosText.empty())
    Seed = 1 + uint64_t(std::random_device()()) % 999'999;
  if (UntilText.getNumOccurrences()) {
    Expected<Condition> Parsed = Condition::parse(UntilText);
    if (!Parsed)
      return toString(Parsed.takeError());
    Until = *Parsed;
  }
  if (Until.What == Condition::Kind::Hang && TimeLimit.count() == 0)
    return "--until hang needs --timeout, which says how long a run may take";
  if (!Wanted && (JobsText.getNumOccurrences() || KeepAll))
    return std::string(KeepAll ? "--keep-all" : "--jobs") +
           " needs --tries or --until";
  return "";
}

} // namespace chronicle::tries
