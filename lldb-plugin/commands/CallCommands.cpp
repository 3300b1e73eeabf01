// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// calls, backtrace.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/CallFilter.h"
#include "lldb-plugin/values/CallReader.h"
#include "query/answers/RunEnd.h"
#include "query/json/JsonAnswers.h"
#include "query/questions/FunctionEntry.h"
#include "trace-format/Text.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace chronicle::commands {

using questions::CallAnswer;
using questions::FrameAnswer;
using values::CallFilter;
using values::CallMoment;
using values::CallReader;
using values::CallResult;
using values::Parameter;

namespace {
/// What LLDB adds to a call.
struct CallValues {
  Timestamp Start = 0; ///< where a breakpoint on the function stops
  std::optional<std::vector<Parameter>> Parameters; ///< nothing: no debug info
  CallResult Result;
};

/// An answer of the engine, with the values that LLDB shows.
template <class Answer> struct Described {
  Answer Call;
  CallValues Values;
};
} // namespace

template <class Answer> static json::Object toJSON(const Described<Answer> &D) {
  json::Object O = jsonapi::toJSON(D.Call);
  if (D.Values.Parameters) {
    json::Array List;
    for (const Parameter &P : *D.Values.Parameters)
      List.push_back(toJSON(P));
    O["parameters"] = std::move(List);
    O["parameters-text"] = parametersText(*D.Values.Parameters);
  }
  O["start"] = D.Values.Start;
  if (!D.Values.Result.Value.empty())
    O["value-text"] = D.Values.Result.Value;
  if (D.Values.Result.MayBeDropped)
    O["value-unknown"] = true;
  return O;
}

template <class Answer>
static json::Array jsonOf(const std::vector<Described<Answer>> &Calls) {
  json::Array List;
  for (const Described<Answer> &D : Calls)
    List.push_back(toJSON(D));
  return List;
}

/// A C++ name without the list of types at its end, because the parameters are
/// printed with their values.
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

/// The function that the code belongs to, with the types of its parameters;
/// Inlined: the innermost one that was inlined there.
static std::string fullName(const questions::Place &Place, bool Inlined) {
  if (!Place.Symbol)
    return "?";
  const auto &Frames = Place.Symbol->Frames;
  const std::string &Name =
      Inlined ? Frames.front().Function : Frames.back().Function;
  return Name.empty() ? "?" : Name;
}

static std::string functionName(const questions::Place &Place,
                                const target::Style &How,
                                bool Inlined = false) {
  return How.name(withoutArguments(fullName(Place, Inlined)));
}

/// How a call was left that did not return; else empty.
static std::string leavingText(const CallAnswer &Call, const query::Trace &T) {
  if (!Call.End)
    return "";
  const std::string At = Call.End->Time
                             ? " at time " + groupedDigits(*Call.End->Time)
                             : std::string();
  switch (Call.End->How) {
  case questions::CallEnd::Kind::Return:
    return "";
  case questions::CallEnd::Kind::Exception:
    return ", left by an exception" + At;
  case questions::CallEnd::Kind::Longjmp:
    return ", left by longjmp" + At;
  case questions::CallEnd::Kind::Jump:
    return ", left by a jump" + At;
  case questions::CallEnd::Kind::ThreadEnd:
    return ", left when its thread ended" + At;
  case questions::CallEnd::Kind::RunEnd:
    return ", under way at the end: the program " +
           answers::RunEnd::of(T.reader().end()).text();
  }
  llvm_unreachable("there is no other way to leave a call");
}

/// "transfer(From=1, To=2) = 3"; without debug info the first registers.
static std::string callText(const Described<CallAnswer> &D,
                            const query::Trace &T, const target::Style &How) {
  std::string Text = functionName(D.Call.Function, How, D.Call.Inlined) + "(";
  if (D.Values.Parameters)
    Text += parametersText(*D.Values.Parameters);
  else if (D.Call.Inlined)
    Text += "...";
  else
    Text += formatv("rdi={0:x}, rsi={1:x}, rdx={2:x}, ...", D.Call.Arguments[0],
                    D.Call.Arguments[1], D.Call.Arguments[2]);
  Text += ")";
  if (!D.Values.Result.Value.empty())
    Text += " = " + D.Values.Result.Value;
  else if (D.Values.Result.MayBeDropped)
    Text += " = <may be dropped>";
  else if (!D.Values.Parameters && D.Call.End && D.Call.End->Value)
    Text += formatv(" = rax {0:x}", *D.Call.End->Value);
  return Text + leavingText(D.Call, T);
}

static std::string returnText(const CallAnswer &Call) {
  if (Call.Inlined)
    return "inlined";
  const auto Time = Call.End ? Call.End->returned() : std::nullopt;
  return Time ? groupedDigits(*Time) : "-";
}

/// How many functions have the name.
static size_t countFunctions(const query::Trace &T, StringRef Name) {
  symbols::FunctionCode Found = T.symbols().functionCode(Name);
  StringSet<> Names;
  for (const symbols::SymbolAt &Each : Found.Functions)
    Names.insert(Each.LinkageName);
  for (const symbols::InlinedAt &Each : Found.Inlined)
    Names.insert(Each.Code.LinkageName);
  return Names.size();
}

namespace {
/// Finds the calls of a function that a filter wants.
class CallSearch {
public:
  CallSearch(CommandCall &Call, const query::Trace &T, CallReader Reader)
      : Call(Call), T(T), Reader(std::move(Reader)), Function(Call.text()),
        Filter(Call.value("where"), countFunctions(T, Function)) {}

  /// Sentences about what the search has left out.
  std::string notes() const { return Filter.notes(); }

  Expected<SearchResult<Described<CallAnswer>>>
  run(questions::SearchOptions Options) {
    // A few at a time, because LLDB must say which are wanted.
    constexpr uint64_t Batch = 64;
    const uint64_t Limit = Options.Limit;
    if (!Filter.empty())
      Options.Limit = Batch;
    SearchResult<Described<CallAnswer>> Result;
    bool More = true;
    while (More && !Result.Interrupted) {
      Expected<SearchResult<CallAnswer>> Some =
          Call.collect<CallAnswer>([&](questions::Visitor<CallAnswer> Visit,
                                       const answers::Cancellation &Cancel) {
            return questions::searchCalls(T, Function, Options, Visit, Cancel);
          });
      if (!Some)
        return Some.takeError();
      More = Some->More;
      Result.Interrupted = Some->Interrupted;
      if (Error E = addWanted(Some->Answers, Limit, Options, Result))
        return E;
      if (Filter.empty()) {
        Result.More = More;
        break;
      }
      if (Result.More)
        break;
    }
    return Result;
  }

private:
  /// Adds the calls that are wanted, and makes Options go on after them.
  Error addWanted(std::vector<CallAnswer> &Some, uint64_t Limit,
                  questions::SearchOptions &Options,
                  SearchResult<Described<CallAnswer>> &Result) {
    for (CallAnswer &Found : Some) {
      if (Call.interrupted()) {
        Result.Interrupted = true;
        break;
      }
      Expected<std::optional<CallValues>> Values = valuesOf(Found);
      if (!Values)
        return Values.takeError();
      if (Options.Backward)
        Options.When.Last = Found.Entry - (Found.Entry > 0);
      else
        Options.When.First = Found.Entry + 1;
      if (!*Values)
        continue;
      if (Result.Answers.size() == Limit) {
        Result.More = true;
        break;
      }
      Result.Answers.push_back({std::move(Found), std::move(**Values)});
    }
    return Error::success();
  }

  /// Nothing: the filter does not want the call.
  Expected<std::optional<CallValues>> valuesOf(const CallAnswer &Found) {
    CallMoment Moment;
    Moment.Entry = Found.Entry;
    if (Found.End) {
      Moment.Return = Found.End->returned();
      Moment.Left = Found.End->Time;
    }
    Moment.Thread = Found.Thread;
    Moment.Function = Found.Function.Pc;
    Moment.Inlined = Found.Inlined;
    Moment.InlinedInside = unsigned(Found.InlinedInside);
    CallValues Values;
    if (Error E = Reader.parameters(Moment).moveInto(Values.Parameters))
      return E;
    Expected<bool> Wanted =
        Filter.wants(Reader, Moment, fullName(Found.Function, Found.Inlined),
                     Values.Parameters);
    if (!Wanted)
      return Wanted.takeError();
    if (!*Wanted)
      return std::nullopt;
    if (Error E = Reader.start(Moment).moveInto(Values.Start))
      return E;
    if (Error E = Reader.result(Moment).moveInto(Values.Result))
      return E;
    return Values;
  }

  CommandCall &Call;
  const query::Trace &T;
  CallReader Reader;
  std::string Function;
  CallFilter Filter;
};
} // namespace

static Error calls(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.words().empty())
    return createStringError("missing argument: name a function");
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded);
  if (!Options)
    return Options.takeError();
  Expected<CallReader> Reader = CallReader::make(Loaded);
  if (!Reader)
    return Reader.takeError();
  CallSearch Search(Call, Loaded.trace(), std::move(*Reader));
  Expected<SearchResult<Described<CallAnswer>>> Found = Search.run(*Options);
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    Call.printResults(jsonOf(Found->Answers), *Found);
    return Error::success();
  }
  const target::Style How = Call.style();
  target::Table Rows({{"start", target::Table::Role::Time},
                      {"return", target::Table::Role::Time},
                      "thread",
                      "call",
                      {"caller", target::Table::Role::Place}});
  for (const Described<CallAnswer> &D : Found->Answers)
    Rows.add({groupedDigits(D.Values.Start), returnText(D.Call),
              std::to_string(D.Call.Thread), callText(D, Loaded.trace(), How),
              D.Call.Caller
                  ? target::placeOf(*D.Call.Caller, D.Call.Outside, How)
                  : ""});
  Call.print(Rows, "No such call.");
  Call.print(Search.notes());
  Call.printEnd(*Found);
  return Error::success();
}

// ---- backtrace ----

/// How the frame was entered, and when.
static std::string entryText(const Described<FrameAnswer> &D,
                             const target::Style &How) {
  const answers::Activation &A = D.Call.Activation;
  if (A.Jumped)
    return formatv("jumped to at time {0}", How.time(*A.Jumped));
  return formatv("{0} {1}",
                 A.Signal ? "handler of a signal since time" : "called at time",
                 How.time(D.Values.Start));
}

/// "#0   transfer(From=1) at demo.c:26, called at time 1,234".
static std::string frameText(unsigned Number, const Described<FrameAnswer> &D,
                             const target::Style &How) {
  const questions::Place &Where = D.Call.Where;
  if (!Where.Symbol)
    return formatv("#{0,-3} {1:x}, {2}\n", Number, Where.Pc, entryText(D, How));
  std::string Text =
      functionName(Where, How) + "(" +
      (D.Values.Parameters ? parametersText(*D.Values.Parameters) : "...") +
      ")";
  // The function's name is already there, unless other code was inlined.
  std::string Place = Where.Symbol && Where.Symbol->Frames.size() > 1
                          ? "in " + target::placeOf(Where, How)
                          : target::sourceOf(Where);
  return formatv("#{0,-3} {1}{2}{3}, {4}\n", Number, Text,
                 Place.empty() ? "" : " ", How.place(Place), entryText(D, How));
}

/// Adds parameters to frames of the call stack; Ctrl-C leaves the rest without.
static Expected<std::vector<Described<FrameAnswer>>>
describeFrames(CommandCall &Call, target::LoadedTrace &Loaded,
               ArrayRef<FrameAnswer> Frames, Timestamp At, bool &Interrupted) {
  Expected<CallReader> Reader = CallReader::make(Loaded);
  if (!Reader)
    return Reader.takeError();
  std::vector<Described<FrameAnswer>> Result;
  for (const FrameAnswer &Frame : Frames) {
    const answers::Activation &A = Frame.Activation;
    CallValues Values;
    Values.Start = A.Entry;
    Interrupted = Interrupted || Call.interrupted();
    if (!Interrupted) {
      // After a tail call the frame is in another function than the one that
      // was called.
      Expected<std::optional<questions::FunctionEntry>> Entered =
          questions::functionEntry(Loaded.trace(), A, At);
      if (!Entered)
        return Entered.takeError();
      if (*Entered) {
        CallMoment Moment;
        Moment.Entry = (*Entered)->Time;
        Moment.Thread = A.Thread;
        Moment.Function = (*Entered)->Address;
        if (Error E = Reader->parameters(Moment).moveInto(Values.Parameters))
          return E;
        if (Error E = Reader->start(Moment).moveInto(Values.Start))
          return E;
        // It may still be in its prologue.
        Values.Start = std::min(Values.Start, At);
      }
    }
    Result.push_back({Frame, std::move(Values)});
  }
  return Result;
}

static Error backtrace(CommandCall &Call, target::LoadedTrace &Loaded) {
  Expected<uint64_t> Limit = Call.limitOption();
  if (!Limit)
    return Limit.takeError();
  Expected<uint32_t> Given = Call.threadOption();
  if (!Given)
    return Given.takeError();
  const Timestamp At = Loaded.position().Time;
  Expected<uint32_t> Thread = questions::liveThread(
      Loaded.trace(), *Given ? *Given : Call.selectedThread(Loaded), At);
  if (!Thread)
    return Thread.takeError();
  Expected<std::vector<FrameAnswer>> Stack =
      questions::callStack(Loaded.trace(), *Thread, At, *Limit + 1);
  if (!Stack)
    return Stack.takeError();
  bool More = Stack->size() > *Limit, Interrupted = false;
  Expected<std::vector<Described<FrameAnswer>>> Frames = describeFrames(
      Call, Loaded, ArrayRef(*Stack).take_front(*Limit), At, Interrupted);
  if (!Frames)
    return Frames.takeError();
  if (Call.json()) {
    Call.printJson(json::Object{{"at", At},
                                {"thread", *Thread},
                                {"frames", jsonOf(*Frames)},
                                {"more", More}});
    return Error::success();
  }
  const target::Style How = Call.style();
  for (const auto &[Number, Frame] : enumerate(*Frames))
    Call.print(frameText(unsigned(Number), Frame, How));
  if (Interrupted)
    Call.print("Interrupted: not all parameters were read.\n");
  else if (More)
    Call.print("There are more: raise --limit.\n");
  return Error::success();
}

ArrayRef<CommandSpec> callCommands() {
  static const OptionSpec CallOptions[] = {
      {"where", 0, "expression",
       "Only calls for which this is true; it may name the parameters.",
       Completes::Nothing},
      FromOption,
      ToOption,
      ThreadOption,
      LimitOption,
      OldestFirstOption,
      FullOption,
      JsonOption};
  static const OptionSpec BacktraceOptions[] = {
      {"limit", 'n', "count", "Maximum number of frames (default 20)."},
      ThreadOption,
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "calls",
       .Run = calls,
       .Help = "Show every call of a function, with its arguments and what it "
               "returned.",
       .Arguments = "<function> [--where <expression>]",
       .Details =
           "Newest call first. Arguments are as they were at the call. The "
           "times are those at which a breakpoint on the function stops. An "
           "inlined function has a line for each time its code began. "
           "Comparisons of parameters with numbers, joined by &&, are fast; "
           "LLDB evaluates any other expression at each call. "
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
       .Details =
           "Correct even where the stack was overwritten. Shows when each "
           "function was called, for 'chronicle goto'.\n",
       .Examples = "  chronicle backtrace\n",
       .Options = BacktraceOptions,
       .MostWords = 0},
  };
  return Table;
}

} // namespace chronicle::commands
