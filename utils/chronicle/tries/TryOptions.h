// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The options of `chronicle record` that run the program several times.

#ifndef CHRONICLE_UTILS_CHRONICLE_TRIES_TRYOPTIONS_H
#define CHRONICLE_UTILS_CHRONICLE_TRIES_TRYOPTIONS_H

#include "utils/chronicle/tries/Condition.h"
#include "llvm/Support/CommandLine.h"
#include <chrono>
#include <optional>
#include <string>

namespace chronicle::tries {

/// --tries, --until, --jobs, --keep-all, --timeout and --chaos. The values are
/// valid once read() has returned an empty string.
class TryOptions {
public:
  explicit TryOptions(llvm::cl::SubCommand &Record);

  /// Reads the options after they were parsed.
  /// \return what is wrong with them, in one sentence, or an empty string.
  std::string read();

  /// Whether the program is to be run several times.
  bool wanted() const { return Wanted; }
  /// How often at most; 0 is without a limit.
  unsigned tries() const { return Limit; }
  /// How many at once.
  unsigned jobs() const { return AtOnce; }
  bool keepAll() const { return KeepAll; }
  const Condition &until() const { return Until; }
  /// How long one run may take, also if it is the only one; zero is without a
  /// limit.
  std::chrono::milliseconds timeout() const { return TimeLimit; }
  /// The seed of chaos in this run, from 1, or nothing without chaos. A single
  /// run is number 1.
  std::optional<uint64_t> chaos(unsigned Run) const;

private:
  llvm::cl::opt<std::string> TriesText, UntilText, JobsText, TimeoutText,
      ChaosText;
  llvm::cl::opt<bool> KeepAll;
  bool Wanted = false;
  uint64_t Seed = 0; ///< of the first run
  unsigned Limit = 0, AtOnce = 1;
  Condition Until;
  std::chrono::milliseconds TimeLimit{0};
};

/// Reads "30", "30s", "500ms", "2min" or "1h".
std::optional<std::chrono::milliseconds> parseDuration(llvm::StringRef Text);

} // namespace chronicle::tries

#endif
