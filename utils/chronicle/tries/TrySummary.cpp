// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "utils/chronicle/tries/TrySummary.h"
#include "query/answers/RunEnd.h"
#include "recorder/launch/LaunchError.h"
#include "trace-format/Text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace chronicle::tries {

TryReport failedTry(Error E) {
  auto [Status, Text] = launch::describe(std::move(E));
  return TryReport{{"status", int(Status)}, {"error", shownText(Text)}};
}

TryReport endedTry(const launch::ProcessEnd &End, bool Met,
                   json::Object Summary, StringRef Text) {
  return TryReport{{"met", Met},
                   {"by-signal", End.BySignal},
                   {"code", End.Code},
                   {"timed-out", End.TimedOut},
                   {"summary", std::move(Summary)},
                   {"text", shownText(Text)}};
}

static std::string passingName(StringRef Trace) {
  const StringRef Extension = sys::path::extension(Trace);
  return (Trace.drop_back(Extension.size()) + ".passing" + Extension).str();
}

static std::string counted(uint64_t Count, StringRef Noun) {
  return groupedDigits(Count) + " " + Noun.str() + (Count == 1 ? "" : "s");
}

/// The live line; Limit is 0 if there is none.
static std::string progressText(TryProgress Progress, unsigned Limit) {
  return "run " + groupedDigits(Progress.Started) +
         (Limit ? " of " + groupedDigits(Limit) : "") + ": " +
         groupedDigits(Progress.Ended) + " ended, " +
         groupedDigits(Progress.Started - Progress.Ended) + " under way";
}

launch::ProcessEnd TrySummary::end() const {
  launch::ProcessEnd End;
  if (Result.Number) {
    End.BySignal = Result.Report.getBoolean("by-signal").value_or(false);
    End.Code = int(Result.Report.getInteger("code").value_or(0));
    End.TimedOut = Result.Report.getBoolean("timed-out").value_or(false);
  } else if (Result.Signal) {
    End.BySignal = true;
    End.Code = Result.Signal;
  }
  return End;
}

/// What became of the runs.
std::string TrySummary::sentence() const {
  const std::string Verb = Options.until().verb();
  const std::string Hung =
      Result.Hung && Options.until().What != Condition::Kind::Hang &&
              Options.until().What != Condition::Kind::Failure
          ? "; " + counted(Result.Hung, "run") +
                " took too long (--until hang looks for that)"
          : "";
  if (Result.Number)
    return "run " + groupedDigits(Result.Number) + " " + Verb + "; " +
           counted(Result.Runs.Ended - 1, "other run") + " did not" + Hung;
  return "none of " + counted(Result.Runs.Ended, "run") + " " + Verb + Hung +
         (Result.Signal ? ", then the tries were interrupted" : "");
}

void TrySummary::print(raw_ostream &Out) const {
  Out << "chronicle: " << sentence() << '\n';
  if (Result.HasPassing)
    Out << "  the last other run is in " << passingName(Trace) << '\n';
  if (Result.Number)
    Out << Result.Report.getString("text").value_or("");
  else if (!Result.HasPassing)
    Out << "  no trace was kept\n";
  if (!Result.Number && !Result.Signal && !Options.chaos(1))
    Out << "  with --chaos, races are more likely to show\n";
}

Expected<TrySummary> runTries(const TryOptions &Options, StringRef Trace,
                              TryRunner::Body Run,
                              std::function<void(StringRef)> ShowProgress) {
  TryRunner Runner({Options.tries(), Options.jobs(), Trace.str(),
                    Options.keepAll() ? passingName(Trace) : ""});
  Expected<TryResult> Result = Runner.run(Run, [&](TryProgress Progress) {
    ShowProgress(progressText(Progress, Options.tries()));
  });
  ShowProgress("");
  if (!Result)
    return Result.takeError();
  if (Result->Output)
    if (Error E = Result->Output->print())
      return E;
  return TrySummary(std::move(*Result), Options, Trace.str());
}

json::Object TrySummary::json() const {
  json::Object Summary{{"trace", nullptr}};
  if (const json::Object *OfRun = Result.Report.getObject("summary"))
    Summary = *OfRun;
  Summary["tries"] = json::Object{
      {"runs", Result.Runs.Ended},
      {"limit",
       Options.tries() ? json::Value(Options.tries()) : json::Value(nullptr)},
      {"number",
       Result.Number ? json::Value(Result.Number) : json::Value(nullptr)},
      {"timed-out", Result.Hung},
      {"passing-trace", Result.HasPassing
                            ? json::Value(shownText(passingName(Trace)))
                            : json::Value(nullptr)},
      {"signal",
       Result.Signal ? json::Value(Result.Signal) : json::Value(nullptr)},
      {"sentence", shownText(sentence())}};
  return Summary;
}

} // namespace chronicle::tries
