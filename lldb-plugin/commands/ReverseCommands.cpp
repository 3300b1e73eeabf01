// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// reverse-step, reverse-next, reverse-finish, reverse-stepi and
/// reverse-continue: what LLDB has forward.

#include "lldb-plugin/commands/CommandCall.h"
#include "lldb-plugin/history/HistoryFrames.h"
#include "lldb-plugin/lldb/LldbInternals.h"
#include "lldb-plugin/target/LldbLines.h"
#include "lldb-plugin/target/Resume.h"
#include "query/MomentText.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace chronicle::commands {

namespace {

/// The thread and frame that a step starts from.
struct Start {
  lldb::SBThread Thread;
  session::Position Where;
};

/// Takes one or several steps from a position.
using Way = function_ref<stepping::SourceStep::Destination(
    stepping::SourceStep &Steps, const Start &From, uint64_t Count)>;

} // namespace

/// How many scopes of its code the frame has entered: its own and, if it is
/// inlined, those it is inlined into.
static size_t scopesOf(lldb::SBThread Thread, uint32_t Frame) {
  size_t Scopes = 1;
  for (; Thread.GetFrameAtIndex(Frame).IsInlined(); ++Frame)
    ++Scopes;
  return Scopes;
}

/// Whether the frame is a call: not inlined, and not one that LLDB made up for
/// a function that ended by a tail call.
static bool isActivation(lldb::SBFrame Frame) {
  return !Frame.IsInlined() && !Frame.IsArtificial();
}

static Expected<Start> startOf(CommandCall &Call,
                               const target::LoadedTrace &Loaded) {
  lldb::SBProcess Process = Loaded.process();
  Start From;
  From.Thread = Process.GetSelectedThread();
  if (Call.has("thread")) {
    Expected<uint64_t> Index = Call.number("thread", 0);
    if (!Index)
      return Index.takeError();
    From.Thread = Process.GetThreadByIndexID(uint32_t(*Index));
    if (!From.Thread.IsValid())
      return createStringError(
          formatv("there is no thread {0} now: see 'thread list'", *Index));
  }
  From.Where = Loaded.position();
  From.Where.Thread = Loaded.threadNumber(From.Thread);
  return From;
}

static void printPlace(CommandCall &Call, const target::LoadedTrace &Loaded) {
  lldb::SBThread Thread = Loaded.process().GetSelectedThread();
  lldb::SBFrame Frame = Thread.GetFrameAtIndex(0);
  char Reason[256] = "";
  Thread.GetStopDescription(Reason, sizeof(Reason));
  json::Object Place{{"time", Loaded.position().Time},
                     {"thread", Loaded.position().Thread},
                     {"reason", Reason},
                     {"pc", formatv("{0:x}", Frame.GetPC()).str()}};
  if (const char *Name = Frame.GetDisplayFunctionName())
    Place["function"] = Name;
  lldb::SBLineEntry Line = Frame.GetLineEntry();
  char Path[4096];
  if (Line.IsValid() && Line.GetFileSpec().GetPath(Path, sizeof(Path))) {
    Place["file"] = Path;
    Place["line"] = Line.GetLine();
  }
  Call.printJson(std::move(Place));
}

/// Resumes backward, and prints where that ended.
static void move(CommandCall &Call, const target::LoadedTrace &Loaded) {
  if (!Call.json()) {
    target::runReverse(Call.debugger(), Call.result());
    return;
  }
  lldb::SBCommandReturnObject Silent;
  target::runReverse(Call.debugger(), Silent);
  Call.result().SetStatus(lldb::eReturnStatusSuccessFinishResult);
  if (Silent.Succeeded())
    printPlace(Call, Loaded);
  else
    Call.result().SetError(Silent.GetError());
}

static Error step(CommandCall &Call, target::LoadedTrace &Loaded,
                  session::StopKind Kind, Way Take) {
  const std::optional<uint64_t> Count =
      Call.words().empty() ? 1 : query::parseNumber(Call.words()[0]);
  if (!Count || !*Count)
    return createStringError(
        formatv("invalid step count '{0}': expected a positive integer",
                Call.words()[0]));
  Expected<Start> From = startOf(Call, Loaded);
  if (!From)
    return From.takeError();
  target::LldbLines Lines(Loaded.process().GetTarget());
  std::optional<stepping::SourceStep::Destination> Found;
  Call.interruptibly("Stepping back", [&](const answers::Cancellation &Cancel) {
    stepping::SourceStep Steps(Loaded.trace(), Lines, Cancel);
    Found.emplace(Take(Steps, *From, *Count));
  });
  if (!*Found)
    return Found->takeError();
  stepping::SourceStep::Arrival To;
  if (**Found)
    To = ***Found;
  else if (From->Where.Time && From->Where.Thread != 1)
    return createStringError(formatv("thread {0} has not run before this",
                                     From->Thread.GetIndexID()));
  else
    Kind = session::StopKind::Begin;
  Loaded.goBack({To.Time, From->Where.Thread}, {Kind}, unsigned(To.Hidden));
  move(Call, Loaded);
  return Error::success();
}

/// Steps Count times, or until the start of the run.
static stepping::SourceStep::Destination
repeat(const Start &From, uint64_t Count,
       function_ref<stepping::SourceStep::Destination(session::Position,
                                                      size_t Hidden)>
           Once) {
  std::optional<stepping::SourceStep::Arrival> Last;
  session::Position At = From.Where;
  size_t Hidden = internals::hiddenScopes(From.Thread);
  for (; Count; --Count) {
    stepping::SourceStep::Destination Next = Once(At, Hidden);
    if (!Next)
      return Next.takeError();
    if (!*Next)
      break;
    Last = **Next;
    At.Time = Last->Time;
    Hidden = Last->Hidden;
  }
  return Last;
}

static Error reverseStep(CommandCall &Call, target::LoadedTrace &Loaded) {
  return step(
      Call, Loaded, session::StopKind::ReverseStepIn,
      [](stepping::SourceStep &Steps, const Start &From, uint64_t Count) {
        return repeat(From, Count, [&](session::Position At, size_t Hidden) {
          return Steps.into(At, Hidden);
        });
      });
}

static Error reverseNext(CommandCall &Call, target::LoadedTrace &Loaded) {
  return step(
      Call, Loaded, session::StopKind::ReverseStepOver,
      [](stepping::SourceStep &Steps, const Start &From, uint64_t Count) {
        return repeat(From, Count, [&](session::Position At, size_t Hidden) {
          return Steps.over(At, Hidden);
        });
      });
}

static Error reverseFinish(CommandCall &Call, target::LoadedTrace &Loaded) {
  return step(Call, Loaded, session::StopKind::ReverseStepOut,
              [&](stepping::SourceStep &Steps, const Start &From,
                  uint64_t Count) -> stepping::SourceStep::Destination {
                // The selected frame's function, and Count - 1 of its callers.
                lldb::SBThread Thread = From.Thread;
                const uint64_t Wanted = SaturatingAdd(
                    uint64_t(Thread.GetSelectedFrame().GetFrameID()),
                    Count - 1);
                uint32_t Selected = 0;
                size_t Concrete = 0;
                for (; Selected < Wanted; ++Selected) {
                  lldb::SBFrame Callee = Thread.GetFrameAtIndex(Selected);
                  if (!Callee.IsValid())
                    break; // there are not so many
                  Concrete += isActivation(Callee);
                }
                // A function that ended by a tail call belongs to the one it
                // called.
                if (Concrete && Thread.GetFrameAtIndex(Selected).IsArtificial())
                  --Concrete;
                Expected<history::HistoryFrames> History =
                    history::HistoryFrames::create(
                        Loaded.trace(), From.Where.Thread, From.Where.Time);
                if (!History)
                  return History.takeError();
                Expected<const history::HistoryFrame *> Frame =
                    History->frame(Concrete);
                if (!Frame)
                  return Frame.takeError();
                if (!*Frame) {
                  Expected<size_t> Count = History->count();
                  if (!Count)
                    return Count.takeError();
                  return createStringError(
                      formatv("there are only {0} calls under way", *Count));
                }
                return Steps.out(From.Where, (*Frame)->Activation,
                                 scopesOf(Thread, Selected));
              });
}

static Error reverseStepInstruction(CommandCall &Call,
                                    target::LoadedTrace &Loaded) {
  return step(
      Call, Loaded, session::StopKind::ReverseStepInstruction,
      [](stepping::SourceStep &Steps, const Start &From, uint64_t Count) {
        return Steps.instructions(From.Where, Count);
      });
}

static Error reverseContinue(CommandCall &Call, target::LoadedTrace &Loaded) {
  move(Call, Loaded);
  return Error::success();
}

// NOLINTNEXTLINE(readability-function-size): a table of commands.
ArrayRef<CommandSpec> reverseCommands() {
  static const OptionSpec Options[] = {
      {"thread", 't', "index",
       "Step this thread, by its number in 'thread list', instead of the "
       "selected one."},
      JsonOption,
  };
  static const CommandSpec Table[] = {
      {.Name = "reverse-step",
       .Run = reverseStep,
       .Help = "Step back to the start of the line before, into calls.",
       .Arguments = "[<count>]",
       .Details = "Undoes 'thread step-in'. A function that was called is "
                  "entered at its end, if it has line information; from the "
                  "first line of a function the way back is to the line of its "
                  "call. Breakpoints and watchpoints on the way stop it.\n",
       .Examples = "  chronicle reverse-step\n"
                   "  chronicle reverse-step 3\n"
                   "  rs\n",
       .Options = Options,
       .MostWords = 1,
       .Repeat = nullptr,
       .Alias = "rs"},
      {.Name = "reverse-next",
       .Run = reverseNext,
       .Help = "Step back to the start of the line before, over calls.",
       .Arguments = "[<count>]",
       .Details =
           "Undoes 'thread step-over': stays in this call of this "
           "function, in this thread; from its first line the way back is "
           "to the line of its call. How long the calls took that are "
           "stepped over does not matter. Breakpoints and watchpoints in "
           "them stop it.\n",
       .Examples = "  chronicle reverse-next\n"
                   "  chronicle reverse-next 5 --thread 2\n"
                   "  rn\n",
       .Options = Options,
       .MostWords = 1,
       .Repeat = nullptr,
       .Alias = "rn"},
      {.Name = "reverse-finish",
       .Run = reverseFinish,
       .Help = "Go back to the call of the selected frame's function.",
       .Arguments = "[<count>]",
       .Details =
           "To before the call instruction. With a count, to the call of "
           "one of its callers. Breakpoints and watchpoints on the way "
           "stop it.\n",
       .Examples = "  chronicle reverse-finish\n"
                   "  rf\n",
       .Options = Options,
       .MostWords = 1,
       .Repeat = nullptr,
       .Alias = "rf"},
      {.Name = "reverse-stepi",
       .Run = reverseStepInstruction,
       .Help = "Step back by instructions of this thread.",
       .Arguments = "[<count>]",
       .Examples = "  chronicle reverse-stepi\n"
                   "  chronicle reverse-stepi 1000\n"
                   "  rsi\n",
       .Options = Options,
       .MostWords = 1,
       .Repeat = nullptr,
       .Alias = "rsi"},
      {.Name = "reverse-continue",
       .Run = reverseContinue,
       .Help = "Run backward to a breakpoint, a watchpoint or the start of the "
               "run.",
       .Details = "A breakpoint stops before its instruction, a watchpoint "
                  "before the write, so that what led to it is still to be "
                  "seen.\n",
       .Examples = "  watchpoint set variable Total\n"
                   "  chronicle reverse-continue\n"
                   "  rc\n",
       .Options = ArrayRef(Options).drop_front(),
       .MostWords = 0,
       .Repeat = nullptr,
       .Alias = "rc"},
  };
  return Table;
}

} // namespace chronicle::commands
