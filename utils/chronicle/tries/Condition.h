// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The run that `chronicle record --until` looks for.

#ifndef CHRONICLE_UTILS_CHRONICLE_TRIES_CONDITION_H
#define CHRONICLE_UTILS_CHRONICLE_TRIES_CONDITION_H

#include "recorder/launch/Supervisor.h"
#include "utils/chronicle/tries/CapturedOutput.h"
#include "llvm/Support/Error.h"
#include <string>

namespace chronicle::tries {

/// What a run must do for its trace to be kept.
struct Condition {
  enum class Kind {
    Failure, ///< exit with a status other than 0, die of a signal, or hang
    Crash,   ///< die of a signal
    Hang,    ///< run longer than the time limit
    Status,  ///< exit with Code
    Text,    ///< print Words
  };
  Kind What = Kind::Failure;
  int Code = 0;
  std::string Words;

  /// Reads "failure", "crash", "hang", "status=K", "text=WORDS", or words that
  /// are none of these.
  static llvm::Expected<Condition> parse(llvm::StringRef Text);

  llvm::Expected<bool> metBy(const launch::ProcessEnd &End,
                             const CapturedOutput &Output) const;
  /// What no run did: "failed", "exited with status 3", "printed 'lost'".
  std::string verb() const;
};

} // namespace chronicle::tries

#endif
