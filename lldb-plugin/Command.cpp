// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Command.h"
#include "lldb-plugin/Bookmarks.h"
#include "lldb-plugin/LldbCompletion.h"
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/ThreadNames.h"
#include "query/JsonAnswers.h"
#include "query/JsonCommands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <future>
#include <thread>

using namespace llvm;
using lldb::SBCommandReturnObject;
using lldb::SBDebugger;

namespace chronicle {

const OptionSpec JsonOption = {"json", 0, nullptr,
                               "Answer in JSON, on one line."};
const OptionSpec NoJumpOption = {"no-jump", 0, nullptr,
                                 "Stay at the present moment."};
const OptionSpec FromOption = {"from", 0, "moment", "Nothing before that.",
                               Completes::Moment};
const OptionSpec ToOption = {"to", 0, "moment", "Nothing after that.",
                             Completes::Moment};
const OptionSpec LimitOption = {"limit", 'n', "count",
                                "At most so many; 20 without this."};
const OptionSpec ThreadOption = {"thread", 't', "number",
                                 "Of that thread only, by its number in "
                                 "'chronicle threads'."};
const OptionSpec OldestFirstOption = {"oldest-first", 0, nullptr,
                                      "In the order of time. Without this the "
                                      "newest is first."};
static constexpr uint64_t UsualLimit = 20;

// ---- words ----

static const OptionSpec *find(const CommandSpec &Spec, StringRef Name) {
  for (const OptionSpec &O : Spec.Options)
    if (Name == O.Name || (Name.size() == 1 && Name[0] == O.Short))
      return &O;
  return nullptr;
}

static bool isNumber(StringRef Word) {
  uint64_t Ignored;
  Word.consume_front("-");
  return !Word.getAsInteger(0, Ignored);
}

Error CommandCall::parse(ArrayRef<StringRef> Given) {
  bool OptionsEnded = false;
  for (size_t I = 0; I < Given.size(); ++I) {
    StringRef Word = Given[I];
    if (OptionsEnded || !Word.starts_with("-") || Word == "-" ||
        isNumber(Word)) {
      Words.push_back(Word);
      continue;
    }
    if (Word == "--") {
      OptionsEnded = true;
      continue;
    }
    bool Long = Word.starts_with("--");
    auto [Name, Attached] = Word.drop_front(Long ? 2 : 1).split('=');
    const OptionSpec *O =
        Long == (Name.size() > 1) ? find(Spec, Name) : nullptr;
    if (!O) {
      std::string Known;
      for (const OptionSpec &Each : Spec.Options)
        Known += std::string(Known.empty() ? "--" : ", --") + Each.Name;
      return createStringError(formatv(
          "chronicle {0} has no option '{1}'; it has {2}. Put -- before an "
          "argument that starts with a dash",
          Spec.Name, Word, Known.empty() ? "none" : Known.c_str()));
    }
    if (!O->Value) {
      if (Word.contains('='))
        return createStringError(formatv("--{0} takes no value", O->Name));
      Options.push_back({O, ""});
      continue;
    }
    if (Word.contains('='))
      Options.push_back({O, Attached});
    else if (I + 1 < Given.size())
      Options.push_back({O, Given[++I]});
    else
      return createStringError(
          formatv("--{0} wants a value: {1}", O->Name, O->Value));
  }
  if (Words.size() > Spec.MostWords)
    return createStringError(
        formatv("'{0}' is too much: the syntax is chronicle {1} {2}",
                Words[Spec.MostWords], Spec.Name, Spec.Arguments));
  return Error::success();
}

bool CommandCall::has(StringRef Option) const {
  return any_of(Options,
                [&](const auto &Given) { return Option == Given.first->Name; });
}

StringRef CommandCall::value(StringRef Option, StringRef Default) const {
  for (const auto &[Given, Value] : reverse(Options))
    if (Option == Given->Name)
      return Value;
  return Default;
}

Expected<uint64_t> CommandCall::number(StringRef Option,
                                       uint64_t Default) const {
  uint64_t Number = Default;
  if (has(Option) && value(Option).getAsInteger(0, Number))
    return createStringError(
        formatv("--{0} wants a number, not '{1}'", Option, value(Option)));
  return Number;
}

// ---- answers ----

Expected<std::shared_ptr<LoadedTrace>> CommandCall::loaded() const {
  if (std::shared_ptr<LoadedTrace> L = LoadedTrace::of(Debugger))
    return L;
  return createStringError("no trace is loaded here: use 'process trace load "
                           "trace.db'");
}

void CommandCall::print(const Twine &Text) {
  Result.PutCString(Text.str().c_str());
}

void CommandCall::printJson(json::Value Value) {
  std::string Text;
  raw_string_ostream(Text) << Value << '\n';
  Result.PutCString(Text.c_str());
}

bool CommandCall::interruptibly(StringRef Title,
                                function_ref<void(const Cancellation &)> Work) {
  using namespace std::chrono_literals;
  Cancellation Cancel;
  std::promise<void> Done;
  std::thread Watcher([&, Over = Done.get_future()] {
    if (Over.wait_for(300ms) == std::future_status::ready)
      return;
    std::string What = Title.str();
    lldb::SBProgress Progress(What.c_str(), "Ctrl-C ends it", Debugger);
    while (Over.wait_for(20ms) != std::future_status::ready)
      if (interrupted())
        Cancel.Cancelled = true;
  });
  Work(Cancel);
  Done.set_value();
  Watcher.join();
  return Cancel.Cancelled;
}

bool CommandCall::interrupted() {
  // LLDB tells of its own requests to any thread, of Ctrl-C only to this one.
  return Debugger.InterruptRequested() ||
         internals::commandInterrupted(Debugger.GetCommandInterpreter());
}

void cut(json::Array &List, size_t Count) {
  while (List.size() > Count)
    List.pop_back();
}

json::Object jsonPosition(const LoadedTrace &Loaded) {
  const Trace &T = Loaded.trace();
  Position Here = Loaded.position();
  json::Object Result{{"time", Here.Time},
                      {"thread", Here.Thread},
                      {"instructions", T.instructions()}};
  Expected<Registers> R = T.registers(Here.Thread, Here.Time);
  if (!R) {
    // The rest is still true.
    Result["error"] = toString(R.takeError());
    return Result;
  }
  Result["pc"] = hexNumber(R->rip());
  Result["symbol"] = jsonSymbol(T, R->rip(), Here.Time);
  return Result;
}

void CommandCall::jump(LoadedTrace &Loaded, Timestamp Time, uint32_t Thread,
                       std::string Description,
                       std::optional<json::Value> Answer) {
  if (!json()) {
    Loaded.jump(Debugger, Time, Thread, std::move(Description), Result);
    return;
  }
  SBCommandReturnObject Silent;
  Loaded.jump(Debugger, Time, Thread, std::move(Description), Silent);
  if (!Silent.Succeeded()) {
    Result.SetError(Silent.GetError());
    return;
  }
  Result.SetStatus(Silent.GetStatus());
  printJson(Answer ? std::move(*Answer) : json::Value(jsonPosition(Loaded)));
}

// ---- questions ----

Expected<json::Value> CommandCall::ask(const Trace &T, StringRef Question,
                                       json::Object Request,
                                       function_ref<bool(json::Value)> Found) {
  const JsonCommand *Command = findJsonCommand(Question);
  assert(Command && "not a question of docs/query.md");
  Expected<json::Value> Answer = nullptr;
  bool Interrupted = interruptibly(
      formatv("chronicle {0}", Spec.Name).str(),
      [&](const Cancellation &Cancel) {
        JsonArguments Arguments(Request, T);
        auto Emit = [&](json::Value V) {
          return (!Found || Found(std::move(V))) && !Cancel.Cancelled;
        };
        JsonQuery Query{T, Arguments, Cancel, Emit};
        Answer = Command->Run(Query);
      });
  if (!Interrupted)
    return Answer;
  consumeError(Answer.takeError()); // it may be how it ended
  if (!Command->Searches)
    return createStringError("interrupted");
  return json::Object{{"interrupted", true}, {"more", true}};
}

Expected<json::Value> CommandCall::collect(const Trace &T, StringRef Question,
                                           json::Object Request,
                                           json::Array &Results) {
  return ask(T, Question, std::move(Request), [&](json::Value V) {
    Results.push_back(std::move(V));
    return true;
  });
}

Expected<json::Object> CommandCall::searchRequest(LoadedTrace &Loaded) const {
  json::Object Request{{"backward", !has("oldest-first")}};
  for (const char *Name : {"from", "to"}) {
    if (!has(Name))
      continue;
    Expected<Position> Moment =
        parseMoment(Loaded.trace(), value(Name), Loaded.position().Time);
    if (!Moment)
      return Moment.takeError();
    Request[Name] = Moment->Time;
  }
  Expected<uint64_t> Limit = number("limit", UsualLimit);
  if (!Limit)
    return Limit.takeError();
  if (!*Limit)
    return createStringError("--limit wants a number from 1 on");
  Request["limit"] = *Limit;
  if (has("thread")) {
    Expected<uint64_t> Thread = number("thread", 0);
    if (!Thread)
      return Thread.takeError();
    Request["thread"] = *Thread;
  }
  return Request;
}

void CommandCall::printResults(json::Array Results, const json::Value &End) {
  json::Object Answer = *End.getAsObject();
  Answer["count"] = int64_t(Results.size());
  Answer["results"] = std::move(Results);
  printJson(std::move(Answer));
}

void CommandCall::printEnd(const json::Value &End) {
  const json::Object &O = *End.getAsObject();
  if (O.getBoolean("interrupted").value_or(false))
    print("Interrupted: there may be more.\n");
  else if (O.getBoolean("more").value_or(false))
    print("There are more: raise --limit, or go on with --from and --to.\n");
}

lldb::SBFrame CommandCall::selectedFrame() {
  return Debugger.GetSelectedTarget()
      .GetProcess()
      .GetSelectedThread()
      .GetSelectedFrame();
}

uint32_t CommandCall::selectedThread(LoadedTrace &Loaded) const {
  Position Here = Loaded.position();
  lldb::SBThread Selected = Loaded.process().GetSelectedThread();
  if (!Selected.IsValid())
    return Here.Thread;
  const uint32_t Number =
      threadNumber(Loaded.trace(), Selected.GetThreadID(), Here.Time);
  return Number ? Number : Here.Thread;
}

// ---- LLDB ----

namespace {
/// A command, given to LLDB as it wants it.
struct Verb : lldb::SBCommandPluginInterface {
  explicit Verb(const CommandSpec &Spec) : Spec(Spec) {}
  bool DoExecute(SBDebugger Debugger, char **Words,
                 SBCommandReturnObject &Result) override {
    SmallVector<StringRef, 8> All;
    for (; Words && *Words; ++Words)
      All.push_back(*Words);
    Result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    CommandCall Call(Spec, Debugger, Result);
    Error E = Call.parse(All);
    if (!E)
      E = Spec.Run(Call);
    if (E) {
      Result.SetError(toString(std::move(E)).c_str());
      return false;
    }
    return Result.Succeeded();
  }
  const CommandSpec &Spec;
};
} // namespace

/// What LLDB itself would offer at the end of that command.
static std::vector<std::string> asLldb(SBDebugger Debugger, const Twine &Line) {
  std::string Text = Line.str();
  lldb::SBStringList Matches;
  Debugger.GetCommandInterpreter().HandleCompletion(Text.c_str(), Text.size(),
                                                    0, -1, Matches);
  std::vector<std::string> Result;
  // The first is what they have in common.
  for (uint32_t I = 1; I < Matches.GetSize(); ++I)
    Result.push_back(Matches.GetStringAtIndex(I));
  return Result;
}

static std::vector<std::string> momentCompletions(SBDebugger Debugger) {
  std::vector<std::string> Result = {"start", "end", "crash"};
  std::shared_ptr<LoadedTrace> Loaded = LoadedTrace::of(Debugger);
  if (!Loaded)
    return Result;
  Expected<BookmarkList> Marks = BookmarkList::of(Loaded->trace());
  if (!Marks) {
    consumeError(Marks.takeError()); // goto will say it
    return Result;
  }
  for (const Bookmark &Mark : Marks->all())
    Result.push_back(Mark.Name);
  return Result;
}

std::vector<std::string> completions(const CommandSpec &Spec,
                                     SBDebugger Debugger,
                                     ArrayRef<StringRef> Words) {
  StringRef Last = Words.back();
  Completes What = Spec.Words;
  bool IsValue = false;
  if (Words.size() > 1 && Words[Words.size() - 2].starts_with("-")) {
    const OptionSpec *O = find(Spec, Words[Words.size() - 2].ltrim('-'));
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

static std::string longHelp(const CommandSpec &Spec) {
  std::string Text;
  raw_string_ostream Out(Text);
  Out << Spec.Details;
  if (!Spec.Options.empty())
    Out << "\nOptions:\n";
  for (const OptionSpec &O : Spec.Options) {
    std::string Name = O.Short ? std::string("-") + O.Short + ", " : "    ";
    Name += std::string("--") + O.Name;
    if (O.Value)
      Name += std::string(" <") + O.Value + ">";
    Out << "  " << left_justify(Name, 26) << O.Help << '\n';
  }
  if (*Spec.Examples)
    Out << "\nExamples:\n" << Spec.Examples;
  return Text;
}

bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec) {
  if (StringRef(Spec.Name).starts_with("_"))
    return Interpreter.AddCommand(Spec.Name, new Verb(Spec), Spec.Help)
        .IsValid();
  std::string Syntax = std::string("chronicle ") + Spec.Name;
  if (*Spec.Arguments)
    Syntax += std::string(" ") + Spec.Arguments;
  lldb::SBCommand Added = Group.AddCommand(Spec.Name, new Verb(Spec), Spec.Help,
                                           Syntax.c_str(), Spec.Repeat);
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

} // namespace chronicle
