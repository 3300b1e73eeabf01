// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Runs a program again and again until a run does what is looked for.

#ifndef CHRONICLE_UTILS_CHRONICLE_TRIES_TRYRUNNER_H
#define CHRONICLE_UTILS_CHRONICLE_TRIES_TRYRUNNER_H

#include "utils/chronicle/tries/CapturedOutput.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace chronicle::tries {

/// One run, in the process that records it.
struct Try {
  unsigned Number = 0; ///< from 1
  std::string Trace;   ///< where to write the trace
  const CapturedOutput *Output = nullptr;
};

/// What a try reports: "met" says whether it is the run that is looked for. If
/// Chronicle failed, there are "error" and "status" instead. All else is for
/// the caller of the runner.
using TryReport = llvm::json::Object;

/// How far the tries have come.
struct TryProgress {
  unsigned Started = 0, Ended = 0;
};

struct TryResult {
  TryProgress Runs;
  unsigned Hung = 0; ///< how many reported "timed-out"
  /// The run that was looked for.
  unsigned Number = 0; ///< 0 if there was none
  TryReport Report;
  std::optional<CapturedOutput> Output;
  bool HasPassing = false; ///< the trace of another run was kept
  int Signal = 0;          ///< that ended the tries, or 0
};

/// Each try is a process of its own, in a process group of its own, whose
/// standard output and error are captured. Its standard input is the file that
/// this process reads, from where it is now, or else /dev/null.
class TryRunner {
public:
  struct Plan {
    unsigned Tries = 0; ///< 0 is without a limit
    unsigned Jobs = 1;
    std::string Trace;   ///< the name that the trace gets in the end
    std::string Passing; ///< the same for the last other run, or empty
  };
  /// Called in the process of the try.
  using Body = llvm::function_ref<TryReport(const Try &)>;

  explicit TryRunner(Plan P) : What(std::move(P)) {}
  ~TryRunner();
  TryRunner(const TryRunner &) = delete;
  TryRunner &operator=(const TryRunner &) = delete;

  /// Runs until a try has "met", all have ended, or a signal asks to end. There
  /// must be no other thread. Calls Progress five times per second, and when a
  /// try begins or ends. An error is Chronicle's own.
  llvm::Expected<TryResult>
  run(Body Run, const std::function<void(TryProgress)> &Progress);

private:
  struct Child {
    unsigned Number;
    pid_t Process;
    int Report; ///< descriptor
    CapturedOutput Output;
  };
  std::string tracePath(unsigned Number) const;
  llvm::Error start(Body Run);
  llvm::Error ended(Child C, int Status);
  llvm::Error keepTrace(unsigned Number, const std::string &Name) const;
  void endAll();

  Plan What;
  TryResult Result;
  std::vector<Child> Running;
  sigset_t OldMask;
  struct sigaction OldChildAction;
};

} // namespace chronicle::tries

#endif
