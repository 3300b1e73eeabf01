// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// calls, backtrace.

#include "lldb-plugin/CallFilter.h"
#include "lldb-plugin/Describe.h"
#include "lldb-plugin/Values.h"

using namespace llvm;

namespace chronicle {

static uint64_t numberOf(const json::Object &O, StringRef Key) {
  uint64_t Number = 0;
  if (std::optional<StringRef> Text = O.getString(Key))
    (void)Text->getAsInteger(0, Number);
  return Number;
}

static CallMoment momentOf(const json::Object &Call) {
  CallMoment Result;
  Result.Entry = Call.getInteger("entry").value_or(0);
  if (std::optional<int64_t> Return = Call.getInteger("return"))
    Result.Return = Timestamp(*Return);
  Result.Thread = uint32_t(Call.getInteger("thread").value_or(0));
  Result.Function =
      numberOf(Call, Call.get("function") ? "function" : "callee");
  return Result;
}

/// Adds to a call, as the engine has it, what LLDB makes of it. False: the
/// filter does not want it.
static Expected<bool> describe(CallReader &Reader, CallFilter &Filter,
                               json::Object &Call, bool WithResult) {
  CallMoment Moment = momentOf(Call);
  Expected<std::optional<lldb::SBFrame>> Frame = Reader.enter(Moment);
  if (!Frame)
    return Frame.takeError();
  if (!*Frame) {
    if (!Filter.empty())
      return createStringError(
          "--where needs debug info, which the function has not");
    return true;
  }
  Expected<bool> Wanted = Filter.wants(**Frame);
  if (!Wanted || !*Wanted)
    return Wanted;
  std::vector<Parameter> Parameters = CallReader::parameters(**Frame);
  Call["parameters"] = jsonParameters(Parameters);
  Call["parameters-text"] = parametersText(Parameters);
  if (!WithResult)
    return true;
  Expected<std::string> Result = Reader.result(Moment);
  if (!Result)
    return Result.takeError();
  if (!Result->empty())
    Call["value-text"] = *Result;
  return true;
}

/// A C++ name without the list of types at its end: the parameters come with
/// their values.
static StringRef withoutArguments(StringRef Name) {
  size_t Close = Name.rfind(')');
  if (Close == StringRef::npos)
    return Name;
  unsigned Depth = 0;
  for (size_t I = Close + 1; I-- > 0;) {
    Depth += Name[I] == ')';
    Depth -= Name[I] == '(';
    if (Depth)
      continue;
    StringRef Bare = Name.take_front(I);
    return Bare.ends_with("operator") ? Name : Bare;
  }
  return Name;
}

static StringRef functionName(const json::Object &Call) {
  const json::Object *Symbol = Call.getObject("symbol");
  if (!Symbol)
    return "?";
  // What was inlined did not get called.
  if (const json::Array *Outer = Symbol->getArray("inlined-into"))
    if (const json::Object *Last =
            Outer->empty() ? nullptr : Outer->back().getAsObject())
      Symbol = Last;
  return withoutArguments(Symbol->getString("function").value_or("?"));
}

/// "transfer(From=1, To=2)"; without debug info the first registers.
static std::string callText(const json::Object &Call) {
  std::string Text = functionName(Call).str() + "(";
  if (std::optional<StringRef> Known = Call.getString("parameters-text"))
    Text += *Known;
  else if (const json::Object *Registers = Call.getObject("arguments"))
    Text += formatv("rdi={0}, rsi={1}, rdx={2}, ...",
                    Registers->getString("rdi").value_or(""),
                    Registers->getString("rsi").value_or(""),
                    Registers->getString("rdx").value_or(""));
  else
    Text += "...";
  Text += ")";
  if (std::optional<StringRef> Value = Call.getString("value-text"))
    Text += " = " + Value->str();
  else if (!Call.get("parameters") && Call.getString("value"))
    Text += " = rax " + Call.getString("value")->str();
  return Text;
}

static Error calls(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  std::string Function = Call.text();
  if (Function.empty())
    return createStringError("calls of what? name a function");
  Expected<json::Object> Request = Call.searchRequest(**L);
  if (!Request)
    return Request.takeError();
  (*Request)["function"] = Function;
  uint64_t Limit = *Request->get("limit")->getAsUINT64();
  bool Backward = *Request->getBoolean("backward");
  Expected<CallReader> Reader = CallReader::make(**L);
  if (!Reader)
    return Reader.takeError();
  CallFilter Filter(Call.value("where"));

  // A few at a time: which are wanted is for LLDB to say, on this thread.
  constexpr uint64_t Batch = 64;
  json::Array Results;
  json::Object End{{"more", false}};
  for (bool More = true; More && !End.getBoolean("interrupted");) {
    json::Array Some;
    json::Object Part = *Request;
    Part["limit"] = Filter.empty() ? Limit : Batch;
    Expected<json::Value> Ended =
        Call.collect((*L)->trace(), "calls", std::move(Part), Some);
    if (!Ended)
      return Ended.takeError();
    const json::Object &Status = *Ended->getAsObject();
    More = Status.getBoolean("more").value_or(false);
    if (Status.getBoolean("interrupted"))
      End["interrupted"] = true;
    for (json::Value &Item : Some) {
      if (Call.interrupted()) {
        End["interrupted"] = true;
        break;
      }
      json::Object &Found = *Item.getAsObject();
      Timestamp Entry = Found.getInteger("entry").value_or(0);
      Expected<bool> Wanted =
          describe(*Reader, Filter, Found, /*WithResult=*/true);
      if (!Wanted)
        return Wanted.takeError();
      // The next part goes on from here.
      (*Request)[Backward ? "to" : "from"] =
          Backward ? Entry - (Entry > 0) : Entry + 1;
      if (!*Wanted)
        continue;
      if (Results.size() == Limit) {
        More = false;
        End["more"] = true;
        break;
      }
      Results.push_back(std::move(Item));
    }
    if (Filter.empty()) {
      End["more"] = More;
      break;
    }
  }
  json::Value Ended = std::move(End);
  if (Call.json()) {
    Call.printResults(std::move(Results), Ended);
    return Error::success();
  }
  Table Rows({"entry", "return", "thread", "call", "caller"});
  for (const json::Value &Item : Results) {
    const json::Object &Found = *Item.getAsObject();
    std::optional<int64_t> Return = Found.getInteger("return");
    const json::Object *Caller = Found.getObject("caller");
    Rows.add({std::to_string(Found.getInteger("entry").value_or(0)),
              Return ? std::to_string(*Return) : "-",
              std::to_string(Found.getInteger("thread").value_or(0)),
              callText(Found), Caller ? placeOf(Caller->get("symbol")) : ""});
  }
  Call.print(Rows.empty() ? "No such call.\n" : Rows.text());
  Call.printEnd(Ended);
  return Error::success();
}

static Error backtrace(CommandCall &Call) {
  Expected<std::shared_ptr<LoadedTrace>> L = Call.loaded();
  if (!L)
    return L.takeError();
  Expected<uint64_t> Limit = Call.number("limit", 20);
  if (!Limit)
    return Limit.takeError();
  Expected<uint64_t> Thread = Call.number("thread", Call.selectedThread(**L));
  if (!Thread)
    return Thread.takeError();
  Expected<json::Value> Answer = Call.ask(
      (*L)->trace(), "call-stack",
      json::Object{{"at", (*L)->position().Time}, {"thread", *Thread}});
  if (!Answer)
    return Answer.takeError();
  json::Array &Frames = *Answer->getAsObject()->getArray("frames");
  bool More = Frames.size() > *Limit;
  if (More)
    cut(Frames, *Limit);
  Expected<CallReader> Reader = CallReader::make(**L);
  if (!Reader)
    return Reader.takeError();
  CallFilter All("");
  bool Interrupted = false;
  for (json::Value &Frame : Frames) {
    Interrupted = Interrupted || Call.interrupted();
    if (Interrupted)
      break;
    Expected<bool> Done = describe(*Reader, All, *Frame.getAsObject(),
                                   /*WithResult=*/false);
    if (!Done)
      return Done.takeError();
  }
  (*Answer->getAsObject())["more"] = More;
  if (Call.json()) {
    Call.printJson(std::move(*Answer));
    return Error::success();
  }
  unsigned Number = 0;
  for (const json::Value &Item : Frames) {
    const json::Object &Frame = *Item.getAsObject();
    const json::Object *Symbol = Frame.getObject("symbol");
    // The function's name is there already, unless other code was inlined.
    std::string Place = Symbol && Symbol->getArray("inlined-into")
                            ? "in " + placeOf(Frame.get("symbol"))
                            : sourceOf(Frame.get("symbol"));
    Call.print(formatv("#{0,-3} {1}{2}{3}, {4} {5}\n", Number++,
                       callText(Frame), Place.empty() ? "" : " ", Place,
                       Frame.getBoolean("signal").value_or(false)
                           ? "handler of a signal since time"
                           : "called at time",
                       Frame.getInteger("entry").value_or(0))
                   .str());
  }
  if (Interrupted)
    Call.print("Interrupted: not all parameters were read.\n");
  else if (More)
    Call.print("There are more: raise --limit.\n");
  return Error::success();
}

ArrayRef<CommandSpec> callCommands() {
  static const OptionSpec CallOptions[] = {
      {"where", 0, "expression",
       "Only calls for which this is true, with the parameters by name.",
       Completes::Nothing},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      JsonOption};
  static const OptionSpec BacktraceOptions[] = {
      {"limit", 'n', "count", "At most so many frames; 20 without this."},
      ThreadOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "calls",
       .Run = calls,
       .Help = "Show every call of a function, with its arguments and what it "
               "returned.",
       .Arguments = "<function> [--where <expression>]",
       .Details =
           "The newest call first. Arguments are as they were at the call. "
           "Comparisons of parameters with numbers, joined by &&, are quick; "
           "any other expression is evaluated by LLDB at each call. "
           "'chronicle goto' takes the times.\n",
       .Examples = "  chronicle calls transfer\n"
                   "  chronicle calls transfer --where 'Amount < 0'\n"
                   "  chronicle calls malloc --limit 5 --to -1\n",
       .Options = CallOptions,
       .Words = Completes::Function},
      {.Name = "backtrace",
       .Run = backtrace,
       .Help = "Show the calls under way from history, with the arguments as "
               "they were at each call.",
       .Details = "Right even where the stack was overwritten. Says when each "
                  "was called, for 'chronicle goto'.\n",
       .Examples = "  chronicle backtrace\n",
       .Options = BacktraceOptions,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle
