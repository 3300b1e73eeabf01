// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// backtrace.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/values/DescribedCall.h"
#include "query/questions/FunctionEntry.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::commands {

using questions::FrameAnswer;
using values::CallMoment;
using values::CallReader;
using values::CallValues;
using values::Described;
using values::functionName;

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
                                {"frames", jsonapi::jsonArray(*Frames)},
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
  static const OptionSpec BacktraceOptions[] = {
      {"limit", 'n', "count", "Maximum number of frames (default 20)."},
      ThreadOption,
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
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
