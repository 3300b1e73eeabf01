// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/NextSteps.h"
#include "lldb-plugin/values/FaultingPointer.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/answers/RunEnd.h"
#include "trace-format/events/Events.h"
#include <csignal>

using namespace llvm;

namespace chronicle::commands {

std::optional<uint64_t> faultAddress(const query::Trace &T) {
  const auto Killer = answers::RunEnd::of(T.reader().end()).signal();
  if (!Killer || (*Killer != SIGSEGV && *Killer != SIGBUS))
    return std::nullopt;
  std::optional<uint64_t> Address;
  if (Error E = T.events(
          1ull << CH_EV_SIGNAL, {T.instructions(), T.instructions()},
          /*Backward=*/true, [&](const answers::TimedEvent &Event) {
            auto Signal = Event.as<events::SignalEvent>();
            if (Signal && Signal->number == *Killer && int(Signal->code) > 0)
              Address = Signal->address;
            return !Address;
          }))
    consumeError(std::move(E)); // it only means one hint less
  return Address;
}

/// A variable of the frame that memory has, to show what can be asked about.
static std::string someVariable(lldb::SBFrame Frame) {
  lldb::SBValueList Variables =
      Frame.GetVariables(/*arguments=*/true, /*locals=*/true,
                         /*statics=*/false, /*in_scope_only=*/true);
  for (uint32_t I = Variables.GetSize(); I-- > 0;) {
    lldb::SBValue Each = Variables.GetValueAtIndex(I);
    if (Each.GetName() && Each.GetError().Success() &&
        values::isInMemory(Each) && StringRef(Each.GetName()) != "this")
      return Each.GetName();
  }
  return "";
}

/// The frame's function as commands take it; empty if it has no debug info.
static std::string functionOf(lldb::SBFrame Frame) {
  lldb::SBFunction Function = Frame.GetFunction();
  if (!Function.IsValid() || Frame.IsInlined() || !Function.GetName())
    return "";
  std::string Name = StringRef(Function.GetName()).split('(').first.str();
  return StringRef(Name).contains_insensitive("operator") ||
                 StringRef(Name).contains(' ')
             ? ""
             : Name;
}

/// Whether the thread has run the present instruction before.
static bool ranBefore(const target::LoadedTrace &Loaded) {
  const session::Position Here = Loaded.position();
  const uint64_t Pc =
      Loaded.process().GetSelectedThread().GetFrameAtIndex(0).GetPC();
  bool Ran = false;
  if (!Here.Time)
    return false;
  if (Error E = Loaded.trace().executions({Pc, Pc}, {0, Here.Time - 1},
                                          Here.Thread, /*Backward=*/true,
                                          [&](const answers::Execution &) {
                                            Ran = true;
                                            return false;
                                          }))
    consumeError(std::move(E)); // it only means one hint less
  return Ran;
}

static void addAtCrash(const target::LoadedTrace &Loaded, lldb::SBFrame Frame,
                       std::vector<NextStep> &Steps) {
  if (std::optional<uint64_t> Address = faultAddress(Loaded.trace())) {
    std::optional<values::FaultingPointer> Pointer =
        values::faultingPointer(Frame, *Address);
    if (Pointer && Pointer->InMemory)
      Steps.push_back({"chronicle last-write " + Pointer->Expression,
                       "what wrote the pointer that was followed here"});
    else if (Pointer && ranBefore(Loaded))
      Steps.push_back({"chronicle last-exec",
                       "where this instruction ran before, to see where " +
                           Pointer->Expression + " came from"});
  }
  Steps.push_back({"bt", "the frames, and 'up' to one with your variables"});
  Steps.push_back({"chronicle backtrace",
                   "the calls, with the arguments as they were at each call"});
  Steps.push_back({"chronicle reverse-next", "one line back (rn)"});
}

std::vector<NextStep> nextSteps(const target::LoadedTrace *Loaded) {
  if (!Loaded)
    return {{"process trace load trace.db",
             "open what 'chronicle record ./program' wrote"},
            {"help chronicle", "all commands"}};
  const query::Trace &T = Loaded->trace();
  const Timestamp Now = Loaded->position().Time;
  lldb::SBThread Thread = Loaded->process().GetSelectedThread();
  lldb::SBFrame Frame = Thread.GetSelectedFrame();
  std::vector<NextStep> Steps;
  auto addVariable = [&] {
    std::string Variable = someVariable(Frame);
    if (!Variable.empty())
      Steps.push_back({"chronicle last-write " + Variable,
                       "what gave this variable its value"});
  };
  if (Now == T.instructions() &&
      answers::RunEnd::of(T.reader().end()).signal()) {
    addAtCrash(*Loaded, Frame, Steps);
  } else if (Now == T.instructions()) {
    Steps.push_back({"chronicle output", "what the program printed, and when"});
    Steps.push_back({"chronicle last-exec main", "back to the start of main"});
    Steps.push_back({"breakpoint set --name main",
                     "and 'chronicle reverse-continue' (rc) back to it"});
  } else if (Now == 0) {
    Steps.push_back({"chronicle next-exec main", "to the start of main"});
    Steps.push_back({"breakpoint set --name main", "and 'continue' to it"});
    Steps.push_back({"chronicle goto end", "to the end of the run"});
  } else if (Thread.GetStopReason() == lldb::eStopReasonBreakpoint) {
    Steps.push_back({"continue", "to the next breakpoint"});
    Steps.push_back({"chronicle reverse-continue", "to the one before (rc)"});
    const std::string Function = functionOf(Frame);
    if (!Function.empty())
      Steps.push_back({"chronicle calls " + Function,
                       "every call, with its arguments and its result"});
    addVariable();
    Steps.push_back(
        {"chronicle reverse-finish", "to where it was called (rf)"});
  } else {
    addVariable();
    Steps.push_back(
        {"chronicle backtrace",
         "the calls, with the arguments as they were at each call"});
    Steps.push_back({"chronicle reverse-next", "one line back (rn)"});
    Steps.push_back({"next", "one line forward"});
    Steps.push_back({"chronicle bookmark here", "give this moment a name"});
  }
  Steps.push_back({"help chronicle", "all commands"});
  return Steps;
}

} // namespace chronicle::commands
