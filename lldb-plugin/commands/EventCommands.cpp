// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// syscalls, signals, threads, output.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/answers/SystemCalls.h"
#include "query/json/JsonAnswers.h"
#include "query/questions/EventQuestions.h"
#include "trace-format/Text.h"
#include "trace-format/events/Events.h"

using namespace llvm;

namespace chronicle::commands {

using questions::OutputMatch;
using questions::SystemCallAnswer;

static Error systemCalls(CommandCall &Call, target::LoadedTrace &Loaded) {
  std::vector<uint32_t> Numbers;
  for (StringRef Name : Call.words()) {
    std::optional<uint32_t> Number = answers::systemCallNumber(Name);
    if (!Number)
      return createStringError(questions::unknownSystemCall(Name));
    Numbers.push_back(*Number);
  }
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Expected<SearchResult<SystemCallAnswer>> Found =
      Call.collect<SystemCallAnswer>(
          [&](questions::Visitor<SystemCallAnswer> Visit,
              const answers::Cancellation &Cancel) {
            return questions::searchSystemCalls(Loaded.trace(), Numbers,
                                                *Options, Visit, Cancel);
          });
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    Call.printResults(jsonapi::jsonArray(Found->Answers), *Found);
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "system call",
                      {"place", target::Table::Role::Place}});
  for (const SystemCallAnswer &Each : Found->Answers)
    Rows.add({Each.Call.Entered ? groupedDigits(*Each.Call.Entered) : "-",
              std::to_string(Each.Call.Thread), Each.Call.Text,
              target::placeOf(Each.Where, Each.Caller, How)});
  Call.print(Rows, "No such system call.");
  Call.printEnd(*Found);
  return Error::success();
}

/// A search for events of one kind.
static Expected<SearchResult<answers::TimedEvent>>
eventsOf(CommandCall &Call, target::LoadedTrace &Loaded, uint32_t Kind) {
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  return Call.collect<answers::TimedEvent>(
      [&](questions::Visitor<answers::TimedEvent> Visit,
          const answers::Cancellation &Cancel) {
        return questions::searchEvents(
            Loaded.trace(), questions::eventBit(Kind), *Options, Visit, Cancel);
      });
}

static std::string senderText(const events::SignalEvent &Signal) {
  if (Signal.flags & CH_SIG_SYNCHRONOUS)
    return formatv("the program itself, address {0:x}", Signal.address);
  if (Signal.sender)
    return "process " + std::to_string(Signal.sender);
  return "the kernel";
}

static Error signals(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<SearchResult<answers::TimedEvent>> Found =
      eventsOf(Call, Loaded, CH_EV_SIGNAL);
  if (!Found)
    return Found.takeError();
  json::Array Results;
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "signal",
                      "from",
                      "effect",
                      {"place", target::Table::Role::Place}});
  for (const answers::TimedEvent &Event : Found->Answers) {
    auto Signal = Event.as<events::SignalEvent>();
    if (!Signal)
      continue;
    Expected<std::optional<questions::SignalPlace>> Place =
        questions::signalPlace(Loaded.trace(), Event);
    if (!Place)
      return Place.takeError();
    Rows.add({groupedDigits(Event.Time), std::to_string(Signal->thread),
              answers::signalName(Signal->number), senderText(*Signal),
              Signal->flags & CH_SIG_FATAL ? "killed the program" : "handled",
              *Place ? target::placeOf((*Place)->Where, (*Place)->Caller, How)
                     : ""});
    json::Object O = jsonapi::toJSON(Event);
    if (*Place) {
      O["pc"] = jsonapi::hexNumber((*Place)->Where.Pc);
      O["symbol"] = jsonapi::toJSON((*Place)->Where);
      O["caller"] = jsonapi::toJSON((*Place)->Caller);
    }
    Results.push_back(std::move(O));
  }
  if (Call.json()) {
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  Call.print(Rows, "No signals.");
  Call.printEnd(*Found);
  return Error::success();
}

namespace {
/// A thread of the run and where it is at a moment, if it is alive then.
struct ThreadNow {
  answers::ThreadInfo Info;
  std::optional<questions::Place> Where;
  std::optional<questions::Place> Caller; ///< if it is in the system's code
};
} // namespace

static json::Object toJSON(const ThreadNow &Thread) {
  json::Object O = jsonapi::toJSON(Thread.Info);
  if (Thread.Where) {
    O["pc"] = jsonapi::hexNumber(Thread.Where->Pc);
    O["symbol"] = jsonapi::toJSON(*Thread.Where);
    O["caller"] = jsonapi::toJSON(Thread.Caller);
  }
  return O;
}

static Expected<std::vector<ThreadNow>> threadsAt(const query::Trace &T,
                                                  Timestamp Now) {
  std::vector<ThreadNow> Result;
  for (const answers::ThreadInfo &Info : T.allThreads()) {
    Result.push_back({Info, std::nullopt, std::nullopt});
    if (Info.Started > Now || (Info.Exited && *Info.Exited <= Now))
      continue;
    Expected<answers::Registers> R = T.registers(Info.Number, Now);
    if (!R)
      return R.takeError();
    ThreadNow &Thread = Result.back();
    Thread.Where = questions::placeAt(T, R->rip(), Now);
    Expected<std::optional<questions::Place>> Caller =
        questions::callerOfSystemCode(T, *Thread.Where, Info.Number, Now);
    if (!Caller)
      return Caller.takeError();
    Thread.Caller = std::move(*Caller);
  }
  return Result;
}

static Error threads(CommandCall &Call, target::LoadedTrace &Loaded) {
  session::Position Here = Loaded.position();
  Expected<std::vector<ThreadNow>> All = threadsAt(Loaded.trace(), Here.Time);
  if (!All)
    return All.takeError();
  if (Call.json()) {
    json::Array List;
    for (const ThreadNow &Thread : *All)
      List.push_back(toJSON(Thread));
    Call.printJson(
        json::Object{{"at", Here.Time}, {"threads", std::move(List)}});
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows({"",
                      "thread",
                      "tid",
                      "parent",
                      {"started", target::Table::Role::Time},
                      {"ended", target::Table::Role::Time},
                      {"now", target::Table::Role::Place}});
  for (const auto &[Info, Where, Caller] : *All) {
    std::string Now = Where ? target::placeOf(*Where, Caller, How)
                      : Info.Started > Here.Time ? "not started yet"
                                                 : "ended";
    Rows.add({Info.Number == Here.Thread ? "*" : "",
              std::to_string(Info.Number), std::to_string(Info.OsThread),
              Info.Parent ? std::to_string(Info.Parent) : "-",
              groupedDigits(Info.Started),
              Info.Exited ? groupedDigits(*Info.Exited) : "-", Now});
  }
  Call.print(Rows, "No threads.");
  return Error::success();
}

// ---- output ----

static std::string descriptorText(uint32_t Descriptor) {
  return Descriptor == 1   ? "stdout"
         : Descriptor == 2 ? "stderr"
                           : "file " + std::to_string(Descriptor);
}

static void printOutput(CommandCall &Call, const target::Table &Rows,
                        const SearchStatus &Status) {
  Call.print(Rows, "No such output.");
  Call.printEnd(Status);
}

static target::Table outputTable() {
  return target::Table(
      {{"time", target::Table::Role::Time}, "thread", "to", "text"});
}

/// The writes that printed a text.
static Error findOutput(CommandCall &Call, target::LoadedTrace &Loaded,
                        StringRef Text) {
  if (Text.empty())
    return createStringError("--find needs a text that is not empty");
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  if (Call.has("thread"))
    return createStringError("--thread cannot be combined with --find: several "
                             "threads may have printed the text");
  Expected<SearchResult<OutputMatch>> Found =
      Call.collect<OutputMatch>([&](questions::Visitor<OutputMatch> Visit,
                                    const answers::Cancellation &Cancel) {
        return questions::searchOutput(Loaded.trace(), Text, std::nullopt,
                                       *Options, Visit, Cancel);
      });
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    Call.printResults(jsonapi::jsonArray(Found->Answers), *Found);
    return Error::success();
  }
  target::Table Rows = outputTable();
  for (const OutputMatch &Match : Found->Answers)
    for (const questions::OutputPiece &Piece : Match.Writes)
      Rows.add({groupedDigits(Piece.Time), std::to_string(Piece.Thread),
                descriptorText(Match.Descriptor),
                target::escapedText(Piece.Bytes)});
  printOutput(Call, Rows, *Found);
  return Error::success();
}

static Error output(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.has("find"))
    return findOutput(Call, Loaded, Call.value("find"));
  Expected<SearchResult<answers::TimedEvent>> Found =
      eventsOf(Call, Loaded, CH_EV_OUTPUT);
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    Call.printResults(jsonapi::jsonArray(Found->Answers), *Found);
    return Error::success();
  }
  target::Table Rows = outputTable();
  for (const answers::TimedEvent &Event : Found->Answers)
    if (auto Output = Event.as<events::OutputEvent>())
      Rows.add({groupedDigits(Event.Time), std::to_string(Output->thread),
                descriptorText(Output->descriptor),
                target::escapedText(Output->text())});
  printOutput(Call, Rows, *Found);
  return Error::success();
}

ArrayRef<CommandSpec> eventCommands() {
  static const OptionSpec Options[] = {
      FromOption,        ToOption,   ThreadOption, LimitOption,
      OldestFirstOption, FullOption, JsonOption};
  static const OptionSpec OutputOptions[] = {
      {"find", 'f', "text", "Only writes that printed this text."},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      FullOption,
      JsonOption};
  static const OptionSpec ThreadsOptions[] = {FullOption, JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "syscalls",
       .Run = systemCalls,
       .Help =
           "Show the system calls of the program as strace prints them, and "
           "who made them.",
       .Arguments = "[<name> ...]",
       .Details = "Newest first. With names, only these system calls.\n",
       .Examples = "  chronicle syscalls\n"
                   "  chronicle syscalls open openat --oldest-first\n"
                   "  chronicle syscalls write --to -1 --limit 1\n",
       .Options = Options},
      {.Name = "signals",
       .Run = signals,
       .Help =
           "Show the signals that the program received, and where they came.",
       .Examples = "  chronicle signals\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "threads",
       .Run = threads,
       .Help = "Show all threads of the run, and where they are now.",
       .Examples = "  chronicle threads\n",
       .Options = ThreadsOptions,
       .MostWords = 0},
      {.Name = "output",
       .Run = output,
       .Help = "Show what the program wrote, and when.",
       .Arguments = "[--find <text>]",
       .Details = "Newest first. With --find, the writes that printed a text, "
                  "which may be several for one text.\n",
       .Examples = "  chronicle output\n"
                   "  chronicle output --find 'went in'\n",
       .Options = OutputOptions,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::commands
