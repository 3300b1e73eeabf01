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

using namespace llvm;

namespace chronicle::commands {

using questions::CallAnswer;
using questions::FrameAnswer;
using values::CallFilter;
using values::CallMoment;
using values::CallReader;
using values::Parameter;

namespace {
/// What LLDB adds to a call.
struct CallValues {
  std::optional<std::vector<Parameter>> Parameters; ///< nothing: no debug info
  std::string Result;                               ///< empty: not known
};

/// An answer of the engine, with the values that LLDB shows.
template <class Answer> struct Described {
  Answer Call;
  CallValues Values;
};
} // namespace

/// Nothing: the filter does not want the call.
static Expected<std::optional<CallValues>> valuesOf(CallReader &Reader,
                                                    const CallFilter &Filter,
                                                    const CallMoment &Moment,
                                                    bool WithResult) {
  CallValues Values;
  Expected<std::optional<lldb::SBFrame>> Frame = Reader.enter(Moment);
  if (!Frame)
    return Frame.takeError();
  if (!*Frame) {
    if (!Filter.empty())
      return createStringError(
          "--where needs debug info, which the function does not have");
    return Values;
  }
  Expected<bool> Wanted = Filter.wants(**Frame);
  if (!Wanted)
    return Wanted.takeError();
  if (!*Wanted)
    return std::nullopt;
  Values.Parameters = CallReader::parameters(**Frame);
  if (WithResult) {
    Expected<std::string> Result = Reader.result(Moment);
    if (!Result)
      return Result.takeError();
    Values.Result = std::move(*Result);
  }
  return Values;
}

template <class Answer> static json::Object toJSON(const Described<Answer> &D) {
  json::Object O = jsonapi::toJSON(D.Call);
  if (D.Values.Parameters) {
    json::Array List;
    for (const Parameter &P : *D.Values.Parameters)
      List.push_back(toJSON(P));
    O["parameters"] = std::move(List);
    O["parameters-text"] = parametersText(*D.Values.Parameters);
  }
  if (!D.Values.Result.empty())
    O["value-text"] = D.Values.Result;
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

/// The function that the code belongs to. Inlined functions were not called.
static std::string functionName(const questions::Place &Place) {
  std::string Name =
      Place.Symbol ? Place.Symbol->Frames.back().Function : std::string();
  return Name.empty() ? "?" : withoutArguments(Name).str();
}

/// How a call was left that did not return; else empty.
static std::string leavingText(const CallAnswer &Call, const query::Trace &T) {
  if (!Call.End)
    return "";
  const std::string At = Call.End->Time
                             ? " at time " + std::to_string(*Call.End->Time)
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
                            const query::Trace &T) {
  std::string Text = functionName(D.Call.Function) + "(";
  if (D.Values.Parameters)
    Text += parametersText(*D.Values.Parameters);
  else
    Text += formatv("rdi={0:x}, rsi={1:x}, rdx={2:x}, ...", D.Call.Arguments[0],
                    D.Call.Arguments[1], D.Call.Arguments[2]);
  Text += ")";
  if (!D.Values.Result.empty())
    Text += " = " + D.Values.Result;
  else if (!D.Values.Parameters && D.Call.End && D.Call.End->Value)
    Text += formatv(" = rax {0:x}", *D.Call.End->Value);
  return Text + leavingText(D.Call, T);
}

static std::string returnText(const CallAnswer &Call) {
  const auto Time = Call.End ? Call.End->returned() : std::nullopt;
  return Time ? std::to_string(*Time) : "-";
}

namespace {
/// Finds the calls of a function that a filter wants.
class CallSearch {
public:
  CallSearch(CommandCall &Call, const query::Trace &T, CallReader Reader)
      : Call(Call), T(T), Reader(std::move(Reader)),
        Filter(Call.value("where")), Function(Call.text()) {}

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
      CallMoment Moment;
      Moment.Entry = Found.Entry;
      if (Found.End) {
        Moment.Return = Found.End->returned();
        Moment.Left = Found.End->Time;
      }
      Moment.Thread = Found.Thread;
      Moment.Function = Found.Function.Pc;
      Expected<std::optional<CallValues>> Values =
          valuesOf(Reader, Filter, Moment, /*WithResult=*/true);
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

  CommandCall &Call;
  const query::Trace &T;
  CallReader Reader;
  CallFilter Filter;
  std::string Function;
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
  target::Table Rows({"entry", "return", "thread", "call", "caller"});
  for (const Described<CallAnswer> &D : Found->Answers)
    Rows.add({std::to_string(D.Call.Entry), returnText(D.Call),
              std::to_string(D.Call.Thread), callText(D, Loaded.trace()),
              D.Call.Caller ? target::placeOf(*D.Call.Caller) : ""});
  Call.print(Rows.empty() ? "No such call.\n" : Rows.text());
  Call.printEnd(*Found);
  return Error::success();
}

// ---- backtrace ----

/// How the frame was entered, and when.
static std::string entryText(const answers::Activation &A) {
  if (A.Jumped)
    return formatv("jumped to at time {0}", *A.Jumped);
  return formatv("{0} {1}",
                 A.Signal ? "handler of a signal since time" : "called at time",
                 A.Entry);
}

/// "#0   transfer(From=1) at demo.c:26, called at time 1234".
static std::string frameText(unsigned Number, const Described<FrameAnswer> &D) {
  const questions::Place &Where = D.Call.Where;
  if (!Where.Symbol)
    return formatv("#{0,-3} {1:x}, {2}\n", Number, Where.Pc,
                   entryText(D.Call.Activation));
  std::string Text =
      functionName(Where) + "(" +
      (D.Values.Parameters ? parametersText(*D.Values.Parameters) : "...") +
      ")";
  // The function's name is already there, unless other code was inlined.
  std::string Place = Where.Symbol && Where.Symbol->Frames.size() > 1
                          ? "in " + target::placeOf(Where)
                          : target::sourceOf(Where);
  return formatv("#{0,-3} {1}{2}{3}, {4}\n", Number, Text,
                 Place.empty() ? "" : " ", Place, entryText(D.Call.Activation));
}

/// Adds parameters to frames of the call stack; Ctrl-C leaves the rest without.
static Expected<std::vector<Described<FrameAnswer>>>
describeFrames(CommandCall &Call, target::LoadedTrace &Loaded,
               ArrayRef<FrameAnswer> Frames, bool &Interrupted) {
  Expected<CallReader> Reader = CallReader::make(Loaded);
  if (!Reader)
    return Reader.takeError();
  const CallFilter All("");
  std::vector<Described<FrameAnswer>> Result;
  for (const FrameAnswer &Frame : Frames) {
    Result.push_back({Frame, {}});
    Interrupted = Interrupted || Call.interrupted();
    if (Interrupted)
      continue;
    const answers::Activation &A = Frame.Activation;
    Expected<std::optional<CallValues>> Values =
        valuesOf(*Reader, All, {A.Entry, {}, {}, A.Thread, A.Callee},
                 /*WithResult=*/false);
    if (!Values)
      return Values.takeError();
    Result.back().Values = std::move(**Values);
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
      Call, Loaded, ArrayRef(*Stack).take_front(*Limit), Interrupted);
  if (!Frames)
    return Frames.takeError();
  if (Call.json()) {
    Call.printJson(json::Object{{"at", At},
                                {"thread", *Thread},
                                {"frames", jsonOf(*Frames)},
                                {"more", More}});
    return Error::success();
  }
  for (const auto &[Number, Frame] : enumerate(*Frames))
    Call.print(frameText(unsigned(Number), Frame));
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
      JsonOption};
  static const OptionSpec BacktraceOptions[] = {
      {"limit", 'n', "count", "Maximum number of frames (default 20)."},
      ThreadOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "calls",
       .Run = calls,
       .Help = "Show every call of a function, with its arguments and what it "
               "returned.",
       .Arguments = "<function> [--where <expression>]",
       .Details =
           "Newest call first. Arguments are as they were at the call. "
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
