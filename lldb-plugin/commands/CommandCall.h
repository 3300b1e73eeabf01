// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One use of a `chronicle …` command.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDCALL_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_COMMANDCALL_H

#include "lldb-plugin/commands/CommandSpec.h"
#include "lldb-plugin/target/LoadedTrace.h"
#include "lldb-plugin/target/Table.h"
#include "lldb/API/LLDB.h"
#include "query/questions/Search.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace chronicle::commands {

/// How a search for a command ended.
struct SearchStatus {
  bool More = false;        ///< there are results beyond the limit
  bool Interrupted = false; ///< by Ctrl-C
};

template <class Answer> struct SearchResult : SearchStatus {
  std::vector<Answer> Answers;
};

/// One use of a command: its arguments, and where its answer goes.
class CommandCall {
public:
  CommandCall(const CommandSpec &Spec, lldb::SBDebugger Debugger,
              lldb::SBCommandReturnObject &Result)
      : Spec(Spec), Debugger(Debugger), Result(Result) {}

  /// Reads the words as LLDB split them. A word is an option only if it starts
  /// with a dash and is not a number; after "--" no word is.
  llvm::Error parse(llvm::ArrayRef<llvm::StringRef> Given);

  bool has(llvm::StringRef Option) const;
  /// The option's value; the last one counts.
  llvm::StringRef value(llvm::StringRef Option,
                        llvm::StringRef Default = "") const;
  /// All values of an option that may be repeated, in order.
  std::vector<llvm::StringRef> values(llvm::StringRef Option) const;
  /// The same as value() as a number, decimal or 0x....
  llvm::Expected<uint64_t> number(llvm::StringRef Option,
                                  uint64_t Default) const;
  llvm::ArrayRef<llvm::StringRef> words() const { return Words; }
  /// The words as one text.
  std::string text() const { return llvm::join(Words, " "); }
  bool json() const { return has("json"); }

  lldb::SBDebugger &debugger() { return Debugger; }
  lldb::SBCommandReturnObject &result() { return Result; }

  /// How this call shows its answer.
  target::Style style() const;
  void print(const llvm::Twine &Text);
  /// Empty, or why the loaded trace does not know what comes later.
  std::string cutOff() const;
  /// The same, to be put behind a sentence.
  std::string cutOffNote() const {
    const std::string Why = cutOff();
    return Why.empty() ? "" : "; " + Why;
  }
  /// The table, or a sentence if it has no rows.
  void print(const target::Table &Rows, llvm::StringRef IfEmpty);
  /// One line.
  void printJson(const llvm::json::Value &Value);

  /// Does Work while another thread waits for Ctrl-C, which cancels it. Work
  /// stays on this thread because it may use LLDB's API, which waits for a lock
  /// that lldb-dap holds while it runs a command. LLDB shows Title if Work
  /// takes long.
  /// \returns whether it was interrupted; an error of Work is then to be
  /// ignored.
  bool
  interruptibly(llvm::StringRef Title,
                llvm::function_ref<void(const answers::Cancellation &)> Work);
  /// Whether Ctrl-C was pressed, for use between short pieces of work.
  bool interrupted();

  /// Asks for one answer. Ctrl-C makes it an error.
  template <class Answer>
  llvm::Expected<Answer>
  ask(llvm::function_ref<llvm::Expected<Answer>(const answers::Cancellation &)>
          Question) {
    std::optional<llvm::Expected<Answer>> Given;
    if (!interruptibly(title(), [&](const answers::Cancellation &Cancel) {
          Given.emplace(Question(Cancel));
        }))
      return std::move(*Given);
    llvm::consumeError(Given->takeError());
    return llvm::createStringError("interrupted");
  }

  /// Makes something that takes long once, such as an index. LLDB shows Title
  /// and how far it is; the sentences that Work notes are printed. Ctrl-C makes
  /// it an error.
  template <class Made>
  llvm::Expected<Made>
  make(llvm::StringRef Title,
       llvm::function_ref<llvm::Expected<Made>(const answers::IndexProgress &)>
           Work) {
    std::optional<llvm::Expected<Made>> Result;
    if (!withProgress(Title, [&](const answers::IndexProgress &Progress) {
          Result.emplace(Work(Progress));
        }))
      return std::move(*Result);
    llvm::consumeError(Result->takeError());
    return llvm::createStringError(
        "interrupted; asking again goes on from there");
  }

  /// Collects the answers of a search. Ctrl-C ends it; what it found so far is
  /// kept.
  template <class Answer>
  llvm::Expected<SearchResult<Answer>>
  collect(llvm::function_ref<llvm::Expected<questions::SearchEnd>(
              questions::Visitor<Answer>, const answers::Cancellation &)>
              Search) {
    SearchResult<Answer> Found;
    std::optional<llvm::Expected<questions::SearchEnd>> End;
    Found.Interrupted =
        interruptibly(title(), [&](const answers::Cancellation &Cancel) {
          auto Add = [&](Answer A) {
            Found.Answers.push_back(std::move(A));
            return !Cancel.Cancelled;
          };
          End.emplace(Search(Add, Cancel));
        });
    if (Found.Interrupted) {
      llvm::consumeError(End->takeError());
      Found.More = true;
      return Found;
    }
    if (!*End)
      return End->takeError();
    Found.More = (*End)->More;
    return Found;
  }

  /// The options of searches: --from, --to (without them Default), --limit,
  /// --thread, --oldest-first.
  llvm::Expected<questions::SearchOptions>
  searchOptions(const target::LoadedTrace &Loaded,
                answers::TimeRange Default) const;
  /// The same, with the whole run as the default.
  llvm::Expected<questions::SearchOptions>
  searchOptions(const target::LoadedTrace &Loaded) const;
  /// --thread; 0 without it.
  llvm::Expected<uint32_t> threadOption() const;
  /// --limit; 20 without it.
  llvm::Expected<uint64_t> limitOption() const;

  /// {"results": …} and how the search ended.
  void printResults(llvm::json::Array Results, const SearchStatus &Status);
  /// Tells the reader of a table that it is cut off, or was interrupted.
  void printEnd(const SearchStatus &Status);

  /// The thread that is selected in LLDB, by the trace's number.
  uint32_t selectedThread(const target::LoadedTrace &Loaded) const;
  lldb::SBFrame selectedFrame();

  /// Goes there and prints the stop as LLDB does. With --json prints Answer
  /// instead, or the position if there is none. Thread 0: the one that runs
  /// then.
  void jump(target::LoadedTrace &Loaded, session::Position To,
            session::Stop Why,
            std::optional<llvm::json::Value> Answer = std::nullopt);

private:
  bool
  withProgress(llvm::StringRef Title,
               llvm::function_ref<void(const answers::IndexProgress &)> Work);
  std::string title() const;
  llvm::Error parseOption(llvm::ArrayRef<llvm::StringRef> Given, size_t &I);

  const CommandSpec &Spec;
  lldb::SBDebugger Debugger;
  lldb::SBCommandReturnObject &Result;
  std::vector<std::pair<const OptionSpec *, llvm::StringRef>> Options;
  std::vector<llvm::StringRef> Words;
};

/// Where the process is, as the JSON of every command has it.
llvm::json::Object jsonPosition(const target::LoadedTrace &Loaded);

} // namespace chronicle::commands

#endif
