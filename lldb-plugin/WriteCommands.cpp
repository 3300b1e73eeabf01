// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// last-write, next-write, writes.

#include "lldb-plugin/Describe.h"
#include "lldb-plugin/Values.h"
#include "query/JsonAnswers.h"

using namespace llvm;

namespace chronicle {

/// "instruction 0x401136 in transfer at demo.c:26",
/// "system call read(0x3, 0x1000, 0x40) = 12".
static std::string writerText(const json::Object &W) {
  StringRef By = W.getString("by").value_or("");
  std::string Place = placeOf(W.get("symbol"));
  if (By == "instruction")
    return formatv("instruction {0}{1}{2}", W.getString("pc").value_or(""),
                   Place.empty() ? "" : " in ", Place);
  if (By == "system-call")
    if (const json::Object *Call = W.getObject("system-call"))
      return "system call " + systemCallText(*Call) +
             (Place.empty() ? "" : " from " + Place);
  if (By == "signal")
    return "delivery of a signal";
  if (By == "mapping")
    return "a change of the memory map";
  if (By == "thread")
    return "start or end of a thread";
  if (By == "core")
    return "the system, when the program started";
  return "another process";
}

namespace {
/// When the memory is as it was before a write, and as it was after it.
struct Around {
  explicit Around(const json::Object &W) {
    Timestamp Time = W.getInteger("time").value_or(0);
    bool Instruction = W.getString("by") == StringRef("instruction");
    Before = Time - (!Instruction && Time);
    After = Time + Instruction;
  }
  Timestamp Before, After;
};
} // namespace

/// Adds what LLDB shows of the value before and after.
static Error addValues(LoadedTrace &Loaded, const Watched &What,
                       json::Object &W) {
  Around When(W);
  Expected<std::string> Old = valueAt(Loaded, What, When.Before);
  if (!Old)
    return Old.takeError();
  Expected<std::string> New = valueAt(Loaded, What, When.After);
  if (!New)
    return New.takeError();
  W["expression"] = jsonText(What.Name);
  if (What.Type.IsValid()) {
    lldb::SBType Type = What.Type;
    W["type"] = jsonText(Type.GetDisplayTypeName());
  }
  W["old-value"] = jsonText(*Old);
  W["new-value"] = jsonText(*New);
  return Error::success();
}

static json::Object requestFor(const Watched &What) {
  return json::Object{{"address", hexNumber(What.Range.First)},
                      {"length", What.Range.Last - What.Range.First + 1}};
}

static std::string ownerName(const Trace &T, const Activation &Owner) {
  std::optional<CodeSymbol> Symbol =
      T.symbols().find(Owner.Callee, Owner.Entry);
  std::string Name = Symbol ? Symbol->Frames.back().Function : "";
  return Name.empty() ? hexNumber(Owner.Callee) : Name;
}

static Error oneWrite(CommandCall &Call, bool Backward) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<Watched> What = watchedMemory(Call, **L);
  if (!What)
    return What.takeError();
  const Trace &T = (*L)->trace();
  Timestamp Here = (*L)->position().Time;
  json::Object Request = requestFor(*What);
  Request["at"] = Here;
  Expected<json::Value> Answer =
      Call.ask(T, Backward ? "last-write" : "next-write", std::move(Request));
  if (!Answer)
    return Answer.takeError();
  json::Object *W = Answer->getAsObject();
  if (!W)
    return createStringError(formatv("nothing writes {0} {1} time {2}",
                                     What->title(),
                                     Backward ? "before" : "after", Here));
  if (Error E = addValues(**L, *What, *W))
    return E;
  Timestamp Time = W->getInteger("time").value_or(0);
  uint32_t Thread = uint32_t(W->getInteger("thread").value_or(0));
  std::string Note;
  if (What->Owner && Backward && Time < What->Owner->Entry)
    Note = formatv("this call of {0} began later, at time {1}: it has not set "
                   "{2} yet",
                   ownerName(T, *What->Owner), What->Owner->Entry, What->Name);
  if (What->Owner && !Backward) {
    Expected<std::optional<Timestamp>> Return = T.returnOf(*What->Owner);
    if (!Return)
      return Return.takeError();
    if (*Return && Time >= **Return)
      Note = formatv("this call of {0} was over by then, at time {1}: the "
                     "memory is something else's",
                     ownerName(T, *What->Owner), **Return);
  }
  if (!Note.empty())
    (*W)["note"] = jsonText(Note);
  if (!Call.json()) {
    Call.print(formatv("{0}: {1} -> {2}\n  time {3}, thread {4}: {5}\n",
                       What->title(), W->getString("old-value").value_or(""),
                       W->getString("new-value").value_or(""), Time, Thread,
                       writerText(*W))
                   .str());
    if (!Note.empty())
      Call.print("  note: " + Note + "\n");
  }
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(*Answer));
    return Error::success();
  }
  // Backward to before the write, where what led to it is still to be seen;
  // forward to after it. So the next one is found by asking again.
  Around When(*W);
  Call.jump(
      **L, Backward ? When.Before : When.After, Thread,
      formatv("{0} the write at time {1}", Backward ? "before" : "after", Time),
      std::move(*Answer));
  return Error::success();
}

static Error lastWrite(CommandCall &Call) { return oneWrite(Call, true); }
static Error nextWrite(CommandCall &Call) { return oneWrite(Call, false); }

static Error writes(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<Watched> What = watchedMemory(Call, **L);
  if (!What)
    return What.takeError();
  const Trace &T = (*L)->trace();
  Expected<json::Object> Request = Call.searchRequest(**L);
  if (!Request)
    return Request.takeError();
  for (auto &[Key, Value] : requestFor(*What))
    (*Request)[Key] = std::move(Value);
  std::string Note;
  if (What->Owner && !Call.has("any-time")) {
    // Outside of its call a local variable is other memory.
    Expected<std::optional<Timestamp>> Return = T.returnOf(*What->Owner);
    if (!Return)
      return Return.takeError();
    Timestamp Last = Return->value_or(T.instructions());
    if (!Request->get("from"))
      (*Request)["from"] = What->Owner->Entry;
    if (!Request->get("to"))
      (*Request)["to"] = Last;
    Note = formatv("during this call of {0}, time {1} to {2}; --any-time shows "
                   "the others",
                   ownerName(T, *What->Owner), What->Owner->Entry, Last);
  }
  json::Array Results;
  Expected<json::Value> End =
      Call.collect(T, "writes", std::move(*Request), Results);
  if (!End)
    return End.takeError();
  for (json::Value &Result : Results) {
    if (Call.interrupted()) {
      (*End->getAsObject())["interrupted"] = true;
      cut(Results, &Result - &Results[0]);
      break;
    }
    if (Error E = addValues(**L, *What, *Result.getAsObject()))
      return E;
  }
  if (Call.json()) {
    Call.printResults(std::move(Results), *End);
    return Error::success();
  }
  Call.print(What->title() + (Note.empty() ? "" : ", " + Note) + "\n");
  if (Results.empty())
    Call.print("Nothing writes it.\n");
  Table Rows({"time", "thread", "old", "new", "written by"});
  for (const json::Value &Result : Results) {
    const json::Object &W = *Result.getAsObject();
    Rows.add({std::to_string(W.getInteger("time").value_or(0)),
              std::to_string(W.getInteger("thread").value_or(0)),
              W.getString("old-value").value_or("").str(),
              W.getString("new-value").value_or("").str(), writerText(W)});
  }
  if (!Rows.empty())
    Call.print(Rows.text());
  Call.printEnd(*End);
  return Error::success();
}

ArrayRef<CommandSpec> writeCommands() {
  static const OptionSpec Address = {"address", 'a', "address",
                                     "Memory there, instead of an expression."};
  static const OptionSpec Size = {"size", 's', "bytes",
                                  "How much of it; 8 without this."};
  static const OptionSpec OneOptions[] = {Address, Size, NoJumpOption,
                                          JsonOption};
  static const OptionSpec AllOptions[] = {
      Address,
      Size,
      FromOption,
      ToOption,
      LimitOption,
      OldestFirstOption,
      {"any-time", 0, nullptr,
       "Of a local variable: also outside of the present call."},
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "last-write",
       .Run = lastWrite,
       .Help = "Go to the last write to a variable, an expression or an "
               "address, before now, and show who wrote what.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details =
           "Stops just before the write, so that asking again finds the one "
           "before it. The value is shown as LLDB shows it, before and after. "
           "What wrote it is an instruction, a system call, a signal's "
           "delivery, a change of the memory map, or another process.\n",
       .Examples = "  chronicle last-write Account->Balance\n"
                   "  chronicle last-write --no-jump Table[3]\n"
                   "  chronicle last-write -a 0x7ffe0010 -s 4\n",
       .Options = OneOptions,
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "next-write",
       .Run = nextWrite,
       .Help = "Go to the next write to a variable, an expression or an "
               "address, and show who wrote what.",
       .Arguments = "[--no-jump] <expression> | -a <address> -s <size>",
       .Details = "Stops just after the write, so that asking again finds the "
                  "next one. Otherwise as last-write.\n",
       .Examples = "  chronicle next-write Counter\n",
       .Options = OneOptions,
       .Words = Completes::Expression,
       .Repeat = nullptr},
      {.Name = "writes",
       .Run = writes,
       .Help = "Show the history of a value: every write to a variable, an "
               "expression or an address.",
       .Arguments = "<expression> | -a <address> -s <size>",
       .Details = "A table, the newest write first. Of a local variable those "
                  "during the present call, of anything else those of the "
                  "whole run. 'chronicle goto' takes the times.\n",
       .Examples = "  chronicle writes Counter\n"
                   "  chronicle writes --limit 100 --to -1 List.Size\n"
                   "  chronicle writes --oldest-first -a 0x4c4010 -s 8\n",
       .Options = AllOptions,
       .Words = Completes::Expression},
  };
  return Table;
}

} // namespace chronicle
