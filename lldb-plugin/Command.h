// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a `chronicle …` command of LLDB is made: a function and an entry in its
/// file's table. Options, help, completion, errors, `--json` and Ctrl-C are the
/// same for all, here.
///
///     static Error now(CommandCall &Call);
///     ArrayRef<CommandSpec> momentCommands() {
///       static const CommandSpec Table[] = {
///           {.Name = "now", .Run = now, .Help = "Show the time.", ...}};
///       return Table;
///     }

#ifndef CHRONICLE_LLDB_PLUGIN_COMMAND_H
#define CHRONICLE_LLDB_PLUGIN_COMMAND_H

#include "lldb-plugin/LoadedTrace.h"
#include "lldb/API/LLDB.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace chronicle {

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
  const char *Value = nullptr; ///< what to call it in the help; null: a flag
  const char *Help = "";
  Completes Word = Completes::Nothing; ///< of the value
};

class CommandCall;

struct CommandSpec {
  const char *Name;
  /// Prints its answer or returns why there is none, in one sentence.
  llvm::Error (*Run)(CommandCall &);
  const char *Help;           ///< one line
  const char *Arguments = ""; ///< what follows the name in the syntax
  const char *Details = "";   ///< paragraphs, each ended by a newline
  const char *Examples = "";  ///< indented lines, each ended by a newline
  llvm::ArrayRef<OptionSpec> Options = {};
  Completes Words = Completes::Nothing;
  unsigned MostWords = ~0u; ///< that are no options; more are an error
  /// Enter repeats: null, the same; "", nothing; else this command.
  const char *Repeat = "";
  const char *Alias = nullptr; ///< a top-level short name, unless it is taken
};

/// One use of a command: what it was given and where its answer goes.
class CommandCall {
public:
  CommandCall(const CommandSpec &Spec, lldb::SBDebugger Debugger,
              lldb::SBCommandReturnObject &Result)
      : Spec(Spec), Debugger(Debugger), Result(Result) {}

  /// Reads the words as LLDB split them. A word is an option only if it starts
  /// with a dash and is no number; after "--" none is.
  llvm::Error parse(llvm::ArrayRef<llvm::StringRef> Given);

  bool has(llvm::StringRef Option) const;
  /// The option's value; the last one counts.
  llvm::StringRef value(llvm::StringRef Option,
                        llvm::StringRef Default = "") const;
  /// The same as a number, decimal or 0x....
  llvm::Expected<uint64_t> number(llvm::StringRef Option,
                                  uint64_t Default) const;
  llvm::ArrayRef<llvm::StringRef> words() const { return Words; }
  /// The words as one text.
  std::string text() const { return llvm::join(Words, " "); }
  bool json() const { return has("json"); }

  lldb::SBDebugger &debugger() { return Debugger; }
  lldb::SBCommandReturnObject &result() { return Result; }
  /// The trace of the selected target, or what to do to have one.
  llvm::Expected<std::shared_ptr<LoadedTrace>> loaded() const;

  void print(const llvm::Twine &Text);
  /// One line.
  void printJson(llvm::json::Value Value);

  /// Does Work while another thread listens for Ctrl-C, which then ends it by
  /// Cancel. Work stays on this thread because it may use LLDB's API, which
  /// waits for a lock that lldb-dap holds while it runs a command. What it is
  /// doing is shown, by LLDB, if it takes long.
  /// \returns whether it was interrupted; Work may then have an error to
  /// ignore.
  bool interruptibly(llvm::StringRef Title,
                     llvm::function_ref<void(const Cancellation &)> Work);
  /// Whether Ctrl-C was pressed, between pieces of work that are short.
  bool interrupted();

  /// Asks the engine one of the questions of docs/query.md, interruptibly.
  /// Found is called with each result of a search; false: no more are wanted.
  /// \returns the answer, or how the search ended: {"count", "more"}, and
  /// "interrupted" if it was. A question that is no search, interrupted, is an
  /// error.
  llvm::Expected<llvm::json::Value>
  ask(const Trace &T, llvm::StringRef Question, llvm::json::Object Request,
      llvm::function_ref<bool(llvm::json::Value)> Found = nullptr);
  /// All results of a search, in a list.
  llvm::Expected<llvm::json::Value> collect(const Trace &T,
                                            llvm::StringRef Question,
                                            llvm::json::Object Request,
                                            llvm::json::Array &Results);

  /// The options of searches, as the engine wants them: --from, --to (moments),
  /// --limit, --thread, --oldest-first.
  llvm::Expected<llvm::json::Object> searchRequest(LoadedTrace &Loaded) const;
  /// {"results": …} and how the search ended.
  void printResults(llvm::json::Array Results, const llvm::json::Value &End);
  /// What people must know about a table: that it is cut, or interrupted.
  void printEnd(const llvm::json::Value &End);

  /// The thread that is selected in LLDB, by the trace's number.
  uint32_t selectedThread(LoadedTrace &Loaded) const;
  lldb::SBFrame selectedFrame();

  /// Goes there and prints the stop as LLDB does; with --json prints Answer
  /// instead, or the position if there is none. Thread 0: the one that runs
  /// then.
  void jump(LoadedTrace &Loaded, Timestamp Time, uint32_t Thread,
            std::string Description,
            std::optional<llvm::json::Value> Answer = std::nullopt);

private:
  const CommandSpec &Spec;
  lldb::SBDebugger Debugger;
  lldb::SBCommandReturnObject &Result;
  std::vector<std::pair<const OptionSpec *, llvm::StringRef>> Options;
  std::vector<llvm::StringRef> Words;
};

/// Drops what comes after the first Count.
void cut(llvm::json::Array &List, size_t Count);

/// Where the process is, as every command's JSON says it.
llvm::json::Object jsonPosition(const LoadedTrace &Loaded);

/// The words that Tab offers for the last of Words, which may be empty.
std::vector<std::string> completions(const CommandSpec &Spec,
                                     lldb::SBDebugger Debugger,
                                     llvm::ArrayRef<llvm::StringRef> Words);

/// Adds the command to the group, or one whose name starts with an underscore,
/// which LLDB's help does not show, to LLDB's own. False: LLDB would not have
/// it.
bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec);

/// Options that several commands have.
extern const OptionSpec JsonOption, NoJumpOption, FromOption, ToOption,
    LimitOption, ThreadOption, OldestFirstOption;

/// The tables of the files …Commands.cpp.
llvm::ArrayRef<CommandSpec> loadCommands();
llvm::ArrayRef<CommandSpec> momentCommands();
llvm::ArrayRef<CommandSpec> bookmarkCommands();
llvm::ArrayRef<CommandSpec> writeCommands();
llvm::ArrayRef<CommandSpec> executionCommands();
llvm::ArrayRef<CommandSpec> callCommands();
llvm::ArrayRef<CommandSpec> eventCommands();
llvm::ArrayRef<CommandSpec> reverseCommands();

} // namespace chronicle

#endif
