// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/LldbCommand.h"
#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/lldb/CompletingCommand.h"
#include "lldb-plugin/target/BookmarkList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using lldb::SBCommandReturnObject;
using lldb::SBDebugger;

namespace chronicle::commands {

namespace {
/// A command as LLDB's API wants it.
class LldbCommand : public lldb::SBCommandPluginInterface {
public:
  explicit LldbCommand(const CommandSpec &Spec) : Spec(Spec) {}
  bool DoExecute(SBDebugger Debugger, char **Words,
                 SBCommandReturnObject &Result) override {
    SmallVector<StringRef, 8> All;
    for (; Words && *Words; ++Words)
      All.push_back(*Words);
    Result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    if (Error E = run(Debugger, All, Result)) {
      Result.SetError(toString(std::move(E)).c_str());
      return false;
    }
    return Result.Succeeded();
  }

private:
  Error run(SBDebugger Debugger, ArrayRef<StringRef> Words,
            SBCommandReturnObject &Result) {
    CommandCall Call(Spec, Debugger, Result);
    if (Error E = Call.parse(Words))
      return E;
    if (Spec.RunWithoutTrace)
      return Spec.RunWithoutTrace(Call);
    std::shared_ptr<target::LoadedTrace> Loaded =
        target::LoadedTrace::of(Debugger);
    if (!Loaded)
      return createStringError("no trace is loaded here: use 'process trace "
                               "load trace.db'");
    if (SBDebugger::StateIsRunningState(Loaded->process().GetState()))
      return createStringError("the process is running: wait until it stops, "
                               "or stop it by 'process interrupt'");
    Error Failed = Spec.Run(Call, *Loaded);
    Loaded->forgetCall();
    return Failed;
  }

  const CommandSpec &Spec;
};
} // namespace

/// What LLDB itself offers at the end of that command.
static std::vector<std::string> asLldb(SBDebugger Debugger, const Twine &Line) {
  std::string Text = Line.str();
  lldb::SBStringList Matches;
  Debugger.GetCommandInterpreter().HandleCompletion(Text.c_str(), Text.size(),
                                                    0, -1, Matches);
  std::vector<std::string> Result;
  // The first entry is the prefix that all have in common.
  for (uint32_t I = 1; I < Matches.GetSize(); ++I)
    Result.emplace_back(Matches.GetStringAtIndex(I));
  return Result;
}

static std::vector<std::string> momentCompletions(SBDebugger Debugger) {
  std::vector<std::string> Result = {"start", "end", "crash"};
  std::shared_ptr<target::LoadedTrace> Loaded =
      target::LoadedTrace::of(Debugger);
  if (!Loaded)
    return Result;
  Expected<target::BookmarkList> Marks =
      target::BookmarkList::of(Loaded->trace());
  if (!Marks) {
    consumeError(Marks.takeError()); // 'chronicle goto' reports it
    return Result;
  }
  for (const target::Bookmark &Mark : Marks->all())
    Result.push_back(Mark.Name);
  return Result;
}

/// The words that Tab offers for the last of Words, which may be empty.
static std::vector<std::string> completions(const CommandSpec &Spec,
                                            SBDebugger Debugger,
                                            ArrayRef<StringRef> Words) {
  StringRef Last = Words.back();
  Completes What = Spec.Words;
  bool IsValue = false;
  if (Words.size() > 1 && Words[Words.size() - 2].starts_with("-")) {
    const OptionSpec *O = Spec.option(Words[Words.size() - 2].ltrim('-'));
    IsValue = O && O->Value;
    if (IsValue)
      What = O->Word;
  }
  std::vector<std::string> All;
  if (!IsValue && Last.starts_with("-")) {
    for (const OptionSpec &O : Spec.Options)
      All.push_back(std::string("--") + O.Name);
  } else {
    switch (What) {
    case Completes::Nothing:
      break;
    case Completes::File:
      return asLldb(Debugger, "command source " + Last);
    case Completes::Function:
      return asLldb(Debugger, "breakpoint set --name " + Last);
    case Completes::Expression:
      return asLldb(Debugger, "frame variable " + Last);
    case Completes::Location:
      All = asLldb(Debugger, "breakpoint set --name " + Last);
      append_range(All, asLldb(Debugger, "breakpoint set --file " + Last));
      return All;
    case Completes::Moment:
      All = momentCompletions(Debugger);
      break;
    }
  }
  erase_if(All, [&](const std::string &Word) {
    return !StringRef(Word).starts_with(Last);
  });
  return All;
}

/// Breaks a paragraph into lines that fit a terminal of 80 columns. All but the
/// first are indented.
static std::string wrapped(StringRef Paragraph, unsigned Indent = 0) {
  constexpr size_t Width = 80;
  std::string Text;
  size_t Column = Indent;
  SmallVector<StringRef, 32> Words;
  Paragraph.split(Words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Word : Words) {
    if (!Text.empty() && Column + 1 + Word.size() > Width) {
      Text += '\n' + std::string(Indent, ' ');
      Column = Indent;
    } else if (!Text.empty()) {
      Text += ' ';
      ++Column;
    }
    Text += Word;
    Column += Word.size();
  }
  return Text + '\n';
}

static std::string longHelp(const CommandSpec &Spec) {
  std::string Text;
  raw_string_ostream Out(Text);
  SmallVector<StringRef, 4> Paragraphs;
  StringRef(Spec.Details).split(Paragraphs, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef Paragraph : Paragraphs)
    Out << wrapped(Paragraph);
  if (!Spec.Options.empty())
    Out << "\nOptions:\n";
  for (const OptionSpec &O : Spec.Options) {
    std::string Name = O.Short ? std::string("-") + O.Short + ", " : "    ";
    Name += std::string("--") + O.Name;
    if (O.Value)
      Name += std::string(" <") + O.Value + ">";
    constexpr unsigned Column = 28;
    Out << "  " << left_justify(Name, Column - 2) << wrapped(O.Help, Column);
  }
  if (*Spec.Examples)
    Out << "\nExamples:\n" << Spec.Examples;
  return Text;
}

bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec) {
  if (StringRef(Spec.Name).starts_with("_"))
    return Interpreter.AddCommand(Spec.Name, new LldbCommand(Spec), Spec.Help)
        .IsValid();
  std::string Syntax = std::string("chronicle ") + Spec.Name;
  if (*Spec.Arguments)
    Syntax += std::string(" ") + Spec.Arguments;
  lldb::SBCommand Added = Group.AddCommand(
      Spec.Name, new LldbCommand(Spec), Spec.Help, Syntax.c_str(), Spec.Repeat);
  if (!Added.IsValid())
    return false;
  Added.SetHelpLong(longHelp(Spec).c_str());
  internals::setCompletion(
      Interpreter, Spec.Name,
      [&Spec, Interpreter](ArrayRef<StringRef> Words) mutable {
        return completions(Spec, Interpreter.GetDebugger(), Words);
      });
  if (Spec.Alias && !Interpreter.CommandExists(Spec.Alias) &&
      !Interpreter.AliasExists(Spec.Alias)) {
    SBCommandReturnObject Ignored;
    Interpreter.HandleCommand(
        formatv("command alias {0} chronicle {1}", Spec.Alias, Spec.Name)
            .str()
            .c_str(),
        Ignored);
  }
  return true;
}

} // namespace chronicle::commands
