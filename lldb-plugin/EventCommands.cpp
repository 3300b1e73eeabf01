// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// syscalls, signals, threads, output.

#include "lldb-plugin/Command.h"
#include "lldb-plugin/Describe.h"
#include "query/JsonAnswers.h"
#include "query/SystemCalls.h"
#include <map>

using namespace llvm;

namespace chronicle {

static std::string timeText(const json::Object &O, StringRef Key = "time") {
  std::optional<int64_t> Time = O.getInteger(Key);
  return Time ? std::to_string(*Time) : "-";
}

static std::string threadText(const json::Object &O) {
  return timeText(O, "thread");
}

/// The engine's events have no thread of their own to be asked for.
static uint64_t takeThread(json::Object &Request) {
  uint64_t Thread = 0;
  if (const json::Value *Given = Request.get("thread"))
    Thread = Given->getAsUINT64().value_or(0);
  Request.erase("thread");
  return Thread;
}

namespace {
/// Makes system calls out of their entries and exits, which come in either
/// order.
class SystemCallPairs {
public:
  SystemCallPairs(bool Backward, uint64_t Thread, ArrayRef<StringRef> Names,
                  uint64_t Limit)
      : Backward(Backward), Thread(Thread), Names(Names), Limit(Limit) {}

  /// False: there are more than wanted.
  bool add(json::Object Event) {
    int64_t Number = Event.getInteger("thread").value_or(0);
    if ((Thread && Number != int64_t(Thread)) ||
        (!Names.empty() &&
         !is_contained(Names, Event.getString("name").value_or(""))))
      return true;
    bool Enter = Event.getString("event") == StringRef("syscall-enter");
    Event.erase("event");
    if (!Enter) {
      if (Backward)
        Exits[Number] = std::move(Event);
      else if (auto It = Open.find(Number); It != Open.end())
        finish(*Calls[It->second].getAsObject(), Event), Open.erase(It);
      return !Full || !Open.empty();
    }
    if (Calls.size() == Limit) {
      Full = true;
      return !Backward && !Open.empty();
    }
    if (Backward) {
      if (auto It = Exits.find(Number); It != Exits.end())
        finish(Event, It->second), Exits.erase(It);
    } else {
      Open[Number] = Calls.size();
    }
    Calls.push_back(std::move(Event));
    return true;
  }

  json::Array Calls;
  bool Full = false; ///< there was one more

private:
  static void finish(json::Object &Enter, json::Object &Exit) {
    Enter["returned"] = *Exit.get("time");
    for (const char *Key : {"result", "error"})
      if (const json::Value *Value = Exit.get(Key))
        Enter[Key] = *Value;
  }

  bool Backward;
  uint64_t Thread;
  ArrayRef<StringRef> Names;
  uint64_t Limit;
  std::map<int64_t, json::Object> Exits; ///< whose entry is still to come
  std::map<int64_t, size_t> Open;        ///< place in Calls, by thread
};
} // namespace

static Error systemCalls(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  for (StringRef Name : Call.words())
    if (!systemCallNumber(Name))
      return createStringError("no system call is called '" + Name.str() + "'");
  Expected<json::Object> Request = Call.searchRequest(**L);
  if (!Request)
    return Request.takeError();
  SystemCallPairs Pairs(*Request->getBoolean("backward"), takeThread(*Request),
                        Call.words(), *Request->get("limit")->getAsUINT64());
  Request->erase("limit");
  (*Request)["kinds"] = "system-calls";
  Expected<json::Value> End = Call.ask(
      (*L)->trace(), "events", std::move(*Request),
      [&](json::Value V) { return Pairs.add(std::move(*V.getAsObject())); });
  if (!End)
    return End.takeError();
  if (Pairs.Full)
    (*End->getAsObject())["more"] = true;
  if (Call.json()) {
    Call.printResults(std::move(Pairs.Calls), *End);
    return Error::success();
  }
  Table Rows({"time", "thread", "system call"});
  for (const json::Value &Item : Pairs.Calls) {
    const json::Object &Found = *Item.getAsObject();
    Rows.add({timeText(Found), threadText(Found), systemCallText(Found)});
  }
  Call.print(Rows.empty() ? "No such system call.\n" : Rows.text());
  Call.printEnd(*End);
  return Error::success();
}

/// A search for events of one kind, filtered by thread.
static Expected<json::Value> someEvents(CommandCall &Call, LoadedTrace &Loaded,
                                        StringRef Kind, json::Array &Results) {
  Expected<json::Object> Request = Call.searchRequest(Loaded);
  if (!Request)
    return Request.takeError();
  uint64_t Thread = takeThread(*Request);
  uint64_t Limit = *Request->get("limit")->getAsUINT64();
  Request->erase("limit");
  (*Request)["kinds"] = Kind.str();
  bool More = false;
  Expected<json::Value> End = Call.ask(
      Loaded.trace(), "events", std::move(*Request), [&](json::Value V) {
        if (Thread && V.getAsObject()->getInteger("thread") != int64_t(Thread))
          return true;
        More = Results.size() == Limit;
        if (!More)
          Results.push_back(std::move(V));
        return !More;
      });
  if (End && More)
    (*End->getAsObject())["more"] = true;
  return End;
}

static Error signals(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  json::Array Results;
  Expected<json::Value> End = someEvents(Call, **L, "signal", Results);
  if (!End)
    return End.takeError();
  if (Call.json()) {
    Call.printResults(std::move(Results), *End);
    return Error::success();
  }
  Table Rows({"time", "thread", "signal", "from", "what came of it"});
  for (const json::Value &Item : Results) {
    const json::Object &Found = *Item.getAsObject();
    std::string From;
    if (std::optional<StringRef> Address = Found.getString("address"))
      From = "the program itself, address " + Address->str();
    else if (int64_t Sender = Found.getInteger("sender").value_or(0))
      From = "process " + std::to_string(Sender);
    else
      From = "the kernel";
    Rows.add({timeText(Found), threadText(Found),
              Found.getString("name").value_or("").str(), From,
              Found.getBoolean("fatal").value_or(false) ? "killed the program"
                                                        : "handled"});
  }
  Call.print(Rows.empty() ? "No signals.\n" : Rows.text());
  Call.printEnd(*End);
  return Error::success();
}

static Error threads(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  const Trace &T = (*L)->trace();
  Position Here = (*L)->position();
  json::Array All;
  Table Rows({"", "thread", "tid", "parent", "started", "ended", "now"});
  for (const ThreadInfo &Info : T.allThreads()) {
    json::Object Thread = jsonThread(Info);
    std::string Now;
    if (Info.Started > Here.Time) {
      Now = "not started yet";
    } else if (Info.Exited && *Info.Exited <= Here.Time) {
      Now = "ended";
    } else {
      Expected<Registers> R = T.registers(Info.Number, Here.Time);
      if (!R)
        return R.takeError();
      Thread["pc"] = hexNumber(R->rip());
      Thread["symbol"] = jsonSymbol(T, R->rip(), Here.Time);
      Now = placeOf(Thread.get("symbol"));
    }
    Rows.add({Info.Number == Here.Thread ? "*" : "",
              std::to_string(Info.Number), timeText(Thread, "os-thread"),
              Info.Parent ? std::to_string(Info.Parent) : "-",
              timeText(Thread, "started"), timeText(Thread, "exited"), Now});
    All.push_back(std::move(Thread));
  }
  if (Call.json())
    Call.printJson(
        json::Object{{"at", Here.Time}, {"threads", std::move(All)}});
  else
    Call.print(Rows.text());
  return Error::success();
}

/// Text for one cell: no line ends, no control characters.
static std::string escaped(StringRef Text) {
  std::string Result;
  raw_string_ostream Out(Result);
  Out.write_escaped(Text);
  return Result;
}

/// The writes that printed a text.
static Expected<json::Value> findOutput(CommandCall &Call, LoadedTrace &Loaded,
                                        json::Array &Results) {
  Expected<json::Object> Request = Call.searchRequest(Loaded);
  if (!Request)
    return Request.takeError();
  if (Request->get("thread"))
    return createStringError("--thread does not go with --find: several "
                             "threads may have printed the text");
  // What may come in pieces is found in the order of time.
  Request->erase("backward");
  bool OldestFirst = Call.has("oldest-first");
  uint64_t Limit = *Request->get("limit")->getAsUINT64();
  if (!OldestFirst)
    Request->erase("limit");
  (*Request)["find"] = Call.value("find").str();
  Expected<json::Value> End =
      Call.collect(Loaded.trace(), "output", std::move(*Request), Results);
  if (!End || OldestFirst)
    return End;
  std::reverse(Results.begin(), Results.end());
  if (Results.size() > Limit) {
    cut(Results, Limit);
    (*End->getAsObject())["more"] = true;
  }
  return End;
}

static Error output(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  if (Call.has("find") && Call.value("find").empty())
    return createStringError("--find wants some text");
  json::Array Results;
  Expected<json::Value> End = Call.has("find")
                                  ? findOutput(Call, **L, Results)
                                  : someEvents(Call, **L, "output", Results);
  if (!End)
    return End.takeError();
  if (Call.json()) {
    Call.printResults(std::move(Results), *End);
    return Error::success();
  }
  Table Rows({"time", "thread", "to", "text"});
  for (const json::Value &Item : Results) {
    const json::Object &Found = *Item.getAsObject();
    std::string To = timeText(Found, "descriptor");
    To = To == "1" ? "stdout" : To == "2" ? "stderr" : "file " + To;
    const json::Array *Pieces = Found.getArray("writes");
    if (!Pieces) {
      Rows.add({timeText(Found), threadText(Found), To,
                escaped(Found.getString("text").value_or(""))});
      continue;
    }
    for (const json::Value &Piece : *Pieces) {
      const json::Object &Each = *Piece.getAsObject();
      Rows.add({timeText(Each), threadText(Each), To,
                escaped(Each.getString("text").value_or(""))});
    }
  }
  Call.print(Rows.empty() ? "No such output.\n" : Rows.text());
  Call.printEnd(*End);
  return Error::success();
}

ArrayRef<CommandSpec> eventCommands() {
  static const OptionSpec Options[] = {FromOption,        ToOption,
                                       ThreadOption,      LimitOption,
                                       OldestFirstOption, JsonOption};
  static const OptionSpec OutputOptions[] = {
      {"find", 'f', "text", "Only what printed this text."},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      JsonOption};
  static const OptionSpec ThreadsOptions[] = {JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "syscalls",
       .Run = systemCalls,
       .Help = "Show the system calls of the program, with results.",
       .Arguments = "[<name> ...]",
       .Details = "The newest first; only those of the names given, if any.\n",
       .Examples = "  chronicle syscalls\n"
                   "  chronicle syscalls open openat --oldest-first\n"
                   "  chronicle syscalls write --to -1 --limit 1\n",
       .Options = Options},
      {.Name = "signals",
       .Run = signals,
       .Help = "Show the signals that the program got.",
       .Examples = "  chronicle signals\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "threads",
       .Run = threads,
       .Help = "Show every thread there ever was, and where it is now.",
       .Examples = "  chronicle threads\n",
       .Options = ThreadsOptions,
       .MostWords = 0},
      {.Name = "output",
       .Run = output,
       .Help = "Show what the program wrote, and when.",
       .Arguments = "[--find <text>]",
       .Details = "The newest first. With --find, the writes that printed a "
                  "text, which may have come in several pieces.\n",
       .Examples = "  chronicle output\n"
                   "  chronicle output --find 'went in'\n",
       .Options = OutputOptions,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle
