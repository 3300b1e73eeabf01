// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How to add a command to the `chronicle` program: one file per command, which
/// declares a static Command and its options:
///
///     static int run(llvm::ArrayRef<const char *> Program);
///     static Command Info({.Name = "info",
///                          .Summary = "show what a trace holds",
///                          .Arguments = "[options] trace.db",
///                          .Examples = "  chronicle info trace.db\n",
///                          .Statuses = {{"0", "The trace was read."}},
///                          .Run = run});
///     static llvm::cl::opt<bool> Json("json", llvm::cl::sub(Info), ...);
///
/// The file must be listed in CMakeLists.txt; nothing else refers to it. Help,
/// manual page and completion are made from these declarations.

#ifndef CHRONICLE_UTILS_CHRONICLE_SUBCOMMAND_H
#define CHRONICLE_UTILS_CHRONICLE_SUBCOMMAND_H

#include "utils/chronicle/Terminal.h"
#include "utils/chronicle/manual/Manual.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace chronicle::cli {

struct CommandInfo {
  llvm::StringRef Name;
  llvm::StringRef Summary;   ///< one line without a full stop
  llvm::StringRef Arguments; ///< what follows the name in the usage line
  llvm::StringRef Details;   ///< manual::CommandText::Details
  llvm::StringRef Examples;  ///< indented lines, each with a newline
  std::vector<manual::Entry> Statuses; ///< exit statuses
  /// Runs the command after its options are parsed. The result is the exit
  /// status. Program is empty unless TakesProgram is set.
  int (*Run)(llvm::ArrayRef<const char *> Program);
  /// The first argument that is not an option starts the command line of
  /// another program, which Run gets unchanged.
  bool TakesProgram = false;
  int UsageStatus = 2; ///< exit status when the options are wrong
  /// The words that the first argument may be, if it is one of a few.
  std::vector<llvm::StringRef> Words;
};

/// Reports that an option's value is not a number.
void reportInvalidNumber(const llvm::cl::Option &O, llvm::StringRef Value);

/// Parses numbers as LLVM does, and words the error as Chronicle does.
template <typename T> class NumberParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;

  /// \return true if the value is wrong.
  bool parse(llvm::cl::Option &O, llvm::StringRef, llvm::StringRef Text,
             T &Value) {
    if (!Text.getAsInteger(0, Value))
      return false;
    reportInvalidNumber(O, Text);
    return true;
  }
};

/// An option whose value is a number. LLVM lets only its parsers of int,
/// unsigned and unsigned long long be derived from.
template <typename T>
using NumberOption = llvm::cl::opt<T, false, NumberParser<T>>;

void rememberChoices(const llvm::cl::Option &O,
                     llvm::cl::generic_parser_base &Parser);

/// An option whose value is one of a few names (cl::values).
template <typename T> class ChoiceOption : public llvm::cl::opt<T> {
public:
  template <typename... Mods>
  explicit ChoiceOption(const Mods &...Ms) : llvm::cl::opt<T>(Ms...) {
    rememberChoices(*this, this->getParser());
  }
  using llvm::cl::opt<T>::operator=;
};

/// A letter for an option: -o for --output. A value may follow it directly, as
/// in -j4.
class ShortName : public llvm::cl::alias {
public:
  ShortName(llvm::StringRef Letter, llvm::cl::Option &For);
};

/// A command. Its constructor registers it, so it must be a static object.
class Command : public llvm::cl::SubCommand {
public:
  explicit Command(const CommandInfo &Info);

  const CommandInfo &info() const { return Info; }

  /// All commands, sorted by name.
  static std::vector<Command *> all();
  /// The command of this name, or null.
  static Command *find(llvm::StringRef Name);

  /// Every command has --color. LLVM has an option of that name, too, but not
  /// for subcommands.
  const llvm::cl::Option &color() const { return Color; }

private:
  CommandInfo Info;
  ChoiceOption<ColorWhen> Color;
  Command *Next = nullptr; ///< in the order of registration
};

/// Prints "chronicle <command>: error: text" to standard error, in colour on a
/// terminal, and returns Status, for `return fail(...)`.
int fail(const Command &C, int Status, const llvm::Twine &Text);
int fail(const Command &C, int Status, llvm::Error E);

/// The same for wrong arguments. Also points to the command's help, and returns
/// the command's UsageStatus.
int failUsage(const Command &C, const llvm::Twine &Text);
/// failUsage() for a command line without the trace.
int failNoTrace(const Command &C);

/// "unknown command 'recrod'; did you mean 'record'?" Returns the exit status.
int failUnknownCommand(llvm::StringRef Name);

} // namespace chronicle::cli

#endif
