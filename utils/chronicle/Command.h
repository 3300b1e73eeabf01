// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a command of the `chronicle` program is made: one file a command, that
/// declares a static Command and its options:
///
///     static int run(llvm::ArrayRef<const char *> Program);
///     static Command Info({.Name = "info",
///                          .Summary = "show what a trace holds",
///                          .Arguments = "[options] trace.db",
///                          .Examples = "  chronicle info trace.db\n",
///                          .Run = run});
///     static llvm::cl::opt<bool> Json("json", llvm::cl::sub(Info), ...);
///
/// The file's name must be listed in CMakeLists.txt; nothing else knows of it.

#ifndef CHRONICLE_UTILS_CHRONICLE_COMMAND_H
#define CHRONICLE_UTILS_CHRONICLE_COMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace chronicle {

struct CommandInfo {
  llvm::StringRef Name;
  llvm::StringRef Summary;   ///< one line, no full stop
  llvm::StringRef Arguments; ///< what follows the name in the usage line
  llvm::StringRef Details;   ///< paragraphs for the command's own help
  llvm::StringRef Examples;  ///< indented lines, each ended by a newline
  /// Called once the options are parsed; the result is the exit status. Program
  /// is empty unless TakesProgram.
  int (*Run)(llvm::ArrayRef<const char *> Program);
  /// The first argument that is no option starts another program's command
  /// line, which goes to Run untouched.
  bool TakesProgram = false;
  int UsageStatus = 2; ///< exit status when the options are wrong
};

/// A command, registered by being constructed. Must be a static object.
class Command : public llvm::cl::SubCommand {
public:
  explicit Command(const CommandInfo &Info);

  const CommandInfo &info() const { return Info; }

  /// The next one in the order of registration, or null.
  const Command *next() const { return Next; }
  static const Command *first();

private:
  CommandInfo Info;
  Command *Next = nullptr;
};

/// Prints "chronicle <command>: error: text" to standard error, in colour on a
/// terminal, and returns Status, for `return fail(...)`.
int fail(const Command &C, int Status, const llvm::Twine &Text);
int fail(const Command &C, int Status, llvm::Error E);

/// The same for wrong arguments: adds where to find help, and returns the
/// command's UsageStatus.
int failUsage(const Command &C, const llvm::Twine &Text);

} // namespace chronicle

#endif
