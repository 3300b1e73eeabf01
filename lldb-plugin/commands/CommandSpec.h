// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a `chronicle …` command of LLDB is: a function and an entry in its
/// file's table. Options, help, completion, errors, `--json` and Ctrl-C are the
/// same for all commands.
///
///     static Error now(CommandCall &Call, target::LoadedTrace &Loaded);
///     ArrayRef<CommandSpec> momentCommands() {
///       static const CommandSpec Table[] = {
///           {.Name = "now", .Run = now, .Help = "Show the time.", ...}};
///       return Table;
///     }

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDSPEC_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDSPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace chronicle::target {
class LoadedTrace;
}

namespace chronicle::commands {

/// What Tab offers for a word.
enum class Completes {
  Nothing,
  File,
  Function,
  Location, ///< a function or a file
  Expression,
  Moment, ///< start, end, crash, bookmarks
};

struct OptionSpec {
  const char *Name; ///< without the dashes
  char Short = 0;
  const char *Value = nullptr; ///< its name in the help; null: a flag
  const char *Help = "";
  Completes Word = Completes::Nothing; ///< of the value
};

class CommandCall;

struct CommandSpec {
  const char *Name;
  /// Prints its answer or returns why there is none, in one sentence. Needs a
  /// loaded trace.
  llvm::Error (*Run)(CommandCall &, target::LoadedTrace &) = nullptr;
  /// Used instead of Run by commands that need no loaded trace.
  llvm::Error (*RunWithoutTrace)(CommandCall &) = nullptr;
  const char *Help;           ///< one line
  const char *Arguments = ""; ///< what follows the name in the syntax
  const char *Details = "";   ///< paragraphs, each ended by a newline
  const char *Examples = "";  ///< indented lines, each ended by a newline
  llvm::ArrayRef<OptionSpec> Options;
  Completes Words = Completes::Nothing;
  unsigned MostWords = ~0u; ///< maximum number of arguments besides options
  /// What Enter repeats: null, the same; "", nothing; else this command.
  const char *Repeat = "";
  const char *Alias = nullptr; ///< a top-level short name, unless it is taken

  /// By its name or its one letter. Null: the command has no such option.
  const OptionSpec *option(llvm::StringRef Name) const;
};

/// Options that several commands have.
extern const OptionSpec JsonOption, NoJumpOption, FromOption, ToOption,
    LimitOption, ThreadOption, OldestFirstOption, FullOption;

/// The tables of the files …Commands.cpp.
llvm::ArrayRef<CommandSpec> loadCommands();
llvm::ArrayRef<CommandSpec> statusCommands();
llvm::ArrayRef<CommandSpec> momentCommands();
llvm::ArrayRef<CommandSpec> bookmarkCommands();
llvm::ArrayRef<CommandSpec> writeCommands();
llvm::ArrayRef<CommandSpec> readCommands();
llvm::ArrayRef<CommandSpec> executionCommands();
llvm::ArrayRef<CommandSpec> callCommands();
llvm::ArrayRef<CommandSpec> eventCommands();
llvm::ArrayRef<CommandSpec> exceptionCommands();
llvm::ArrayRef<CommandSpec> reverseCommands();

} // namespace chronicle::commands

#endif
