// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "query/MomentText.h"
#include "query/answers/RunEnd.h"
#include "query/base/UnknownName.h"
#include "query/json/JsonAnswers.h"
#include "trace-format/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

using namespace llvm;
using lldb::SBCommandReturnObject;

namespace chronicle::commands {

static constexpr uint64_t DefaultLimit = 20;

// ---- words ----

static bool isNumber(StringRef Word) {
  Word.consume_front("-");
  return query::parseNumber(Word).has_value();
}

/// Reads the option Given[I], and its value, which may be the next word.
Error CommandCall::parseOption(ArrayRef<StringRef> Given, size_t &I) {
  StringRef Word = Given[I];
  bool Long = Word.starts_with("--");
  auto [Name, Attached] = Word.drop_front(Long ? 2 : 1).split('=');
  const OptionSpec *O = Long == (Name.size() > 1) ? Spec.option(Name) : nullptr;
  if (!O && (Name == "help" || Name == "h"))
    return createStringError(
        formatv("for help, type 'help chronicle {0}'", Spec.Name));
  if (!O) {
    std::string Known;
    std::vector<StringRef> Names;
    for (const OptionSpec &Each : Spec.Options) {
      Known += std::string(Known.empty() ? "--" : ", --") + Each.Name;
      Names.emplace_back(Each.Name);
    }
    StringRef Meant = base::nearestName(Name, Names, Name.size() / 2);
    if (Long && !Meant.empty())
      return createStringError(
          formatv("unknown option '{0}'; did you mean '--{1}'?", Word, Meant));
    return createStringError(
        formatv("unknown option '{1}': chronicle {0} has {2}. Put -- before an "
                "argument that starts with a dash",
                Spec.Name, Word, Known.empty() ? "none" : Known.c_str()));
  }
  bool HasValue = Word.contains('=');
  if (!O->Value) {
    if (HasValue)
      return createStringError(formatv("--{0} takes no value", O->Name));
  } else if (!HasValue) {
    if (I + 1 == Given.size())
      return createStringError(
          formatv("--{0} needs a value: {1}", O->Name, O->Value));
    Attached = Given[++I];
  }
  Options.emplace_back(O, Attached);
  return Error::success();
}

Error CommandCall::parse(ArrayRef<StringRef> Given) {
  bool OptionsEnded = false;
  for (size_t I = 0; I < Given.size(); ++I) {
    StringRef Word = Given[I];
    if (OptionsEnded || !Word.starts_with("-") || Word == "-" || isNumber(Word))
      Words.push_back(Word);
    else if (Word == "--")
      OptionsEnded = true;
    else if (Error E = parseOption(Given, I))
      return E;
  }
  if (Words.size() > Spec.MostWords)
    return createStringError(
        formatv("unexpected argument '{0}': the syntax is chronicle {1} {2}",
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

std::vector<StringRef> CommandCall::values(StringRef Option) const {
  std::vector<StringRef> Result;
  for (const auto &[Given, Value] : Options)
    if (Option == Given->Name)
      Result.push_back(Value);
  return Result;
}

Expected<uint64_t> CommandCall::number(StringRef Option,
                                       uint64_t Default) const {
  if (!has(Option))
    return Default;
  if (std::optional<uint64_t> Number = query::parseNumber(value(Option)))
    return *Number;
  return createStringError(
      formatv("invalid value '{1}' of --{0}: expected a number", Option,
              value(Option)));
}

Expected<uint32_t> CommandCall::threadOption() const {
  Expected<uint64_t> Thread = number("thread", 0);
  if (!Thread)
    return Thread.takeError();
  if (*Thread > UINT32_MAX)
    return createStringError(formatv("there is no thread {0}", *Thread));
  return uint32_t(*Thread);
}

Expected<uint64_t> CommandCall::limitOption() const {
  Expected<uint64_t> Limit = number("limit", DefaultLimit);
  if (!Limit)
    return Limit.takeError();
  if (!*Limit)
    return createStringError("invalid value '0' of --limit: expected a "
                             "positive integer");
  return *Limit;
}

Expected<questions::SearchOptions>
CommandCall::searchOptions(const target::LoadedTrace &Loaded,
                           answers::TimeRange Default) const {
  questions::SearchOptions Search;
  Search.When = Default;
  for (auto [Name, Moment] : {std::pair("from", &Search.When.First),
                              std::pair("to", &Search.When.Last)}) {
    if (!has(Name))
      continue;
    Expected<session::Position> Given = target::parseMoment(
        Loaded.trace(), value(Name), Loaded.position().Time);
    if (!Given)
      return Given.takeError();
    *Moment = Given->Time;
  }
  if (Search.When.First > Search.When.Last)
    return createStringError(formatv(
        "--from, time {0}, is after --to, time {1}",
        groupedDigits(Search.When.First), groupedDigits(Search.When.Last)));
  Expected<uint64_t> Limit = limitOption();
  if (!Limit)
    return Limit.takeError();
  Search.Limit = *Limit;
  Expected<uint32_t> Thread = threadOption();
  if (!Thread)
    return Thread.takeError();
  Search.Thread = *Thread;
  Search.Backward = !has("oldest-first");
  return Search;
}

Expected<questions::SearchOptions>
CommandCall::searchOptions(const target::LoadedTrace &Loaded) const {
  return searchOptions(Loaded, {0, Loaded.trace().instructions()});
}

// ---- answers ----

std::string CommandCall::title() const {
  return std::string("chronicle ") + Spec.Name;
}

void CommandCall::print(const Twine &Text) {
  Result.PutCString(Text.str().c_str());
}

target::Style CommandCall::style() const {
  target::Style How = target::Style::of(Debugger);
  if (has("full")) {
    How.FullNames = true;
    How.Width = 0;
  }
  return How;
}

std::string CommandCall::cutOff() const {
  std::shared_ptr<target::LoadedTrace> Loaded =
      target::LoadedTrace::of(Debugger);
  if (!Loaded || Loaded->trace().reader().truncated().empty())
    return "";
  const file::TraceReader &Reader = Loaded->trace().reader();
  if (!Reader.rebuilt() && !answers::RunEnd::of(Reader.end()).cutShort())
    return Reader.truncated().str();
  return formatv("the trace is cut off at time {0}: what ran after it is not "
                 "known",
                 groupedDigits(Loaded->trace().instructions()));
}

void CommandCall::print(const target::Table &Rows, StringRef IfEmpty) {
  print(Rows.empty() ? (IfEmpty + "\n").str() : Rows.text(style()));
  if (const std::string Why = cutOff(); Rows.empty() && !Why.empty())
    print("note: " + Why + "\n");
}

void CommandCall::printJson(const json::Value &Value) {
  std::string Text;
  raw_string_ostream(Text) << Value << '\n';
  Result.PutCString(Text.c_str());
}

/// Whether it was interrupted.
bool CommandCall::withProgress(
    StringRef Title, function_ref<void(const answers::IndexProgress &)> Work) {
  std::vector<std::string> Notes;
  std::mutex Lock;
  std::optional<lldb::SBProgress> Bar;
  uint64_t Shown = 0;
  answers::IndexProgress Progress;
  Progress.Note = [&](StringRef Sentence) { Notes.push_back(Sentence.str()); };
  Progress.Step = [&](uint64_t Done, uint64_t Total) {
    std::lock_guard<std::mutex> Guard(Lock);
    const uint64_t Percent = Total ? Done * 100 / Total : 100;
    if (!Bar)
      Bar.emplace(Title.str().c_str(), "Ctrl-C ends it", 100, Debugger);
    if (Percent > Shown)
      Bar->Increment(Percent - std::exchange(Shown, Percent));
  };
  const bool Interrupted =
      interruptibly(Title, [&](const answers::Cancellation &Cancel) {
        Progress.Cancel = &Cancel;
        Work(Progress);
      });
  for (const std::string &Note : Notes)
    if (!json())
      print("note: " + Note + "\n");
  return Interrupted;
}

bool CommandCall::interruptibly(
    StringRef Title, function_ref<void(const answers::Cancellation &)> Work) {
  using namespace std::chrono_literals;
  answers::Cancellation Cancel;
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
  // LLDB reports its own requests to any thread, Ctrl-C only to this one.
  return Debugger.InterruptRequested() ||
         internals::commandInterrupted(Debugger.GetCommandInterpreter());
}

json::Object jsonPosition(const target::LoadedTrace &Loaded) {
  const query::Trace &T = Loaded.trace();
  session::Position Here = Loaded.position();
  json::Object Result{{"time", Here.Time},
                      {"thread", Here.Thread},
                      {"instructions", T.instructions()}};
  Expected<answers::Registers> R = T.registers(Here.Thread, Here.Time);
  if (!R) {
    // The rest is still valid.
    Result["error"] = toString(R.takeError());
    return Result;
  }
  Result["pc"] = jsonapi::hexNumber(R->rip());
  Result["symbol"] =
      jsonapi::toJSON(questions::placeAt(T, R->rip(), Here.Time));
  return Result;
}

void CommandCall::jump(target::LoadedTrace &Loaded, session::Position To,
                       session::Stop Why, std::optional<json::Value> Answer) {
  if (!json()) {
    Loaded.jump(Debugger, To, Why, Result);
    return;
  }
  SBCommandReturnObject Silent;
  Loaded.jump(Debugger, To, Why, Silent);
  if (!Silent.Succeeded()) {
    Result.SetError(Silent.GetError());
    return;
  }
  Result.SetStatus(Silent.GetStatus());
  printJson(Answer ? *Answer : json::Value(jsonPosition(Loaded)));
}

void CommandCall::printResults(json::Array Results,
                               const SearchStatus &Status) {
  json::Object Answer{{"count", int64_t(Results.size())},
                      {"more", Status.More}};
  if (Status.Interrupted)
    Answer["interrupted"] = true;
  if (const std::string Why = cutOff(); !Why.empty())
    Answer["truncated"] = Why;
  Answer["results"] = std::move(Results);
  printJson(std::move(Answer));
}

void CommandCall::printEnd(const SearchStatus &Status) {
  if (Status.Interrupted)
    print("Interrupted: there may be more.\n");
  else if (Status.More)
    print("There are more: raise --limit, or go on with --from and --to.\n");
}

lldb::SBFrame CommandCall::selectedFrame() {
  return Debugger.GetSelectedTarget()
      .GetProcess()
      .GetSelectedThread()
      .GetSelectedFrame();
}

uint32_t CommandCall::selectedThread(const target::LoadedTrace &Loaded) const {
  return Loaded.threadNumber(Loaded.process().GetSelectedThread());
}

} // namespace chronicle::commands
