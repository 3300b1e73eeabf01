// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What is said about tries: by each of them, during them and after them.

#ifndef CHRONICLE_UTILS_CHRONICLE_TRIES_TRYSUMMARY_H
#define CHRONICLE_UTILS_CHRONICLE_TRIES_TRYSUMMARY_H

#include "recorder/launch/Supervisor.h"
#include "utils/chronicle/tries/TryOptions.h"
#include "utils/chronicle/tries/TryRunner.h"
#include "llvm/Support/raw_ostream.h"

namespace chronicle::tries {

/// The report of a try in which Chronicle failed.
TryReport failedTry(llvm::Error E);
/// The report of a run that ended; Summary and Text are the summary of its
/// recording.
TryReport endedTry(const launch::ProcessEnd &End, bool Met,
                   llvm::json::Object Summary, llvm::StringRef Text);

/// The summary of all tries.
class TrySummary {
public:
  TrySummary(TryResult Result, const TryOptions &Options, std::string Trace)
      : Result(std::move(Result)), Options(Options), Trace(std::move(Trace)) {}

  void print(llvm::raw_ostream &Out) const;
  /// The summary of the run that was kept, with the member "tries".
  llvm::json::Object json() const;
  /// How `chronicle record` is to end: as the run that was kept, or with status
  /// 0, or of the signal that ended the tries.
  launch::ProcessEnd end() const;

private:
  std::string sentence() const;
  TryResult Result;
  const TryOptions &Options;
  std::string Trace;
};

/// Runs the program until a run does what is looked for, and prints what that
/// run printed. With --keep-all, the last other run gets the name
/// "trace.passing.db". ShowProgress gets a line, or an empty one at the end.
llvm::Expected<TrySummary>
runTries(const TryOptions &Options, llvm::StringRef Trace, TryRunner::Body Run,
         std::function<void(llvm::StringRef)> ShowProgress);

} // namespace chronicle::tries

#endif
