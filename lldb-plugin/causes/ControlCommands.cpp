// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// why-here and why-not.

#include "lldb-plugin/causes/CauseCommands.h"
#include "lldb-plugin/causes/StepText.h"
#include "lldb-plugin/commands/CodeLocation.h"
#include "lldb-plugin/commands/RegisterWrites.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "query/control/AbsenceQuestions.h"
#include "query/control/ControlQuestions.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::causes {

using namespace commands;
using control::ControlAnswer;
using control::ControlStep;

/// "eax = 0x5 (5), 4 bytes at Limit = 0x3 (3)".
static std::string operandsText(const query::Trace &T,
                                const answers::Condition &C) {
  std::string Text;
  for (const answers::ConditionOperand &O : C.Operands) {
    Text += Text.empty() ? "" : ", ";
    if (O.Place.InMemory)
      Text += formatv("{0} bytes at ", O.Place.Size);
    Text += placeName(T, O.Place, O.At) + " = " + target::valueText(O.Value);
  }
  return Text;
}

static std::string stepText(const query::Trace &T, lldb::SBTarget Target,
                            const ControlStep &S, const target::Style &How) {
  const std::string Place = target::placeOf(S.Where, How);
  const std::string In = Place.empty() ? "" : " in " + Place;
  switch (S.What) {
  case ControlStep::Kind::Branch:
  case ControlStep::Kind::IndirectJump: {
    std::string Text = S.What == ControlStep::Kind::IndirectJump ? "went to "
                       : S.Jumped ? "jumped: "
                                  : "did not jump: ";
    if (S.What == ControlStep::Kind::IndirectJump)
      Text += formatv("{0:x}: ", S.To);
    Text += instructionText(Target, S.Pc) + In;
    if (S.Compared)
      Text += ", after " + instructionText(Target, S.Condition.ComparedPc);
    const std::string Values = operandsText(T, S.Condition);
    if (!Values.empty())
      Text += ", with " + Values;
    if (S.Repeats)
      Text += formatv("; it ran {0} time(s) before in this call", *S.Repeats);
    else if (S.Repeated)
      Text += "; it ran before in this call";
    if (!S.Certain)
      Text += "; other targets of an indirect jump are not known, so it may "
              "not have decided";
    return Text;
  }
  case ControlStep::Kind::Call:
    return "called" + In;
  case ControlStep::Kind::TailCall:
    return "jumped to by a tail call" + In;
  case ControlStep::Kind::Start:
    return "start of " + Place;
  case ControlStep::Kind::Signal:
    return "a signal was delivered to " + Place;
  case ControlStep::Kind::Unknown:
    return S.Note;
  }
  llvm_unreachable("no such kind");
}

/// The source line that has the condition or the call.
static std::string sourceOf(CommandCall &Call, const ControlStep &S) {
  if (S.What == ControlStep::Kind::Start ||
      S.What == ControlStep::Kind::Signal ||
      S.What == ControlStep::Kind::Unknown || !S.Where.Symbol)
    return "";
  const symbols::SourceFrame &F = S.Where.Symbol->Frames.front();
  if (F.File.empty() || !F.Line)
    return "";
  const std::optional<std::string> Text =
      sourceText(Call.debugger(), F.File, F.Line);
  return Text ? StringRef(*Text).trim().str() : "";
}

static void printSteps(CommandCall &Call, target::LoadedTrace &Loaded,
                       const ControlAnswer &Answer) {
  const query::Trace &T = Loaded.trace();
  lldb::SBTarget Target = Loaded.process().GetTarget();
  const target::Style How = Call.style();
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "source",
                      {"how", target::Table::Role::Place}});
  for (const ControlStep &S : Answer.Steps)
    Rows.add({groupedDigits(S.Time), std::to_string(S.Thread),
              sourceOf(Call, S), stepText(T, Target, S, How)});
  Call.print(Rows, "Nothing is known about it.");
  for (const ControlStep &S : Answer.Steps)
    for (const answers::ConditionOperand &O : S.Condition.Operands) {
      const std::string Name = placeName(T, O.Place, O.At);
      Call.print(
          formatv("Next, for example: 'chronicle goto {0}', 'chronicle why "
                  "--at {1} {2}'.\n",
                  S.Time, O.At,
                  O.Place.InMemory ? formatv("-a {0:x} -s {1}", O.Place.Address,
                                             O.Place.Size)
                                         .str()
                                   : "$" + Name)
              .str());
      return;
    }
}

static Error whyHere(CommandCall &Call, target::LoadedTrace &Loaded) {
  constexpr uint64_t DefaultLimit = 100;
  Expected<uint64_t> Limit = Call.number("limit", DefaultLimit);
  if (!Limit)
    return Limit.takeError();
  if (!*Limit)
    return createStringError("invalid value '0' of --limit: expected a "
                             "positive integer");
  const query::Trace &T = Loaded.trace();
  Expected<variables::CallScope> Scope = selectedScope(Call, Loaded);
  if (!Scope)
    return Scope.takeError();
  control::ControlPoint Where;
  Where.Thread = Scope->Call.Thread;
  Where.At = Loaded.position().Time;
  Where.All = Call.has("all");
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Where.Thread, Where.At);
  if (!Stack)
    return Stack.takeError();
  while (Where.Frame < Stack->size() &&
         (*Stack)[Where.Frame].Entry != Scope->Call.Entry)
    ++Where.Frame;
  origins::ValueEngine Engine(T.reader());
  std::optional<Expected<ControlAnswer>> Answer;
  const bool Interrupted =
      Call.interruptibly("why-here", [&](const answers::Cancellation &Cancel) {
        Answer.emplace(control::whyHere(T, Engine, Where, *Limit, Cancel));
      });
  if (!*Answer)
    return Answer->takeError();
  if (Call.json()) {
    json::Object O = jsonapi::toJSON(**Answer);
    O["interrupted"] = Interrupted;
    Call.printJson(std::move(O));
    return Error::success();
  }
  printSteps(Call, Loaded, **Answer);
  if (Interrupted)
    Call.print("Interrupted: this is what was found so far.\n");
  else if (!(*Answer)->Complete)
    Call.print("There is more before: raise --limit.\n");
  return Error::success();
}

/// The innermost call from the selected frame outward whose function has the
/// code. Nothing: none has.
static Expected<std::optional<answers::Activation>>
callWith(CommandCall &Call, target::LoadedTrace &Loaded,
         ArrayRef<questions::CodePlace> Code) {
  Expected<variables::CallScope> Scope = selectedScope(Call, Loaded);
  if (!Scope)
    return Scope.takeError();
  const query::Trace &T = Loaded.trace();
  const Timestamp At = Loaded.position().Time;
  Expected<std::vector<answers::Activation>> Stack =
      T.callStack(Scope->Call.Thread, At);
  if (!Stack)
    return Stack.takeError();
  auto FunctionOf = [&](uint64_t Pc) {
    const std::optional<symbols::CodeSymbol> S = T.symbols().find(Pc, At);
    return S ? S->FunctionAddress : 0;
  };
  bool Selected = false;
  for (const answers::Activation &A : *Stack) {
    Selected |= A.Entry == Scope->Call.Entry;
    if (Selected && any_of(Code, [&](const questions::CodePlace &P) {
          return FunctionOf(P.Range.First) == FunctionOf(A.Callee);
        }))
      return A;
  }
  return std::nullopt;
}

static void printAbsence(CommandCall &Call, target::LoadedTrace &Loaded,
                         const control::AbsenceAnswer &A,
                         const std::optional<answers::Activation> &In) {
  const query::Trace &T = Loaded.trace();
  const target::Style How = Call.style();
  const std::string Scope =
      In ? formatv("in this call, which began at {0}", How.time(In->Entry))
               .str()
         : std::string("in this run");
  const std::string Code = target::placeOf(A.Code, How);
  if (A.Ran) {
    Call.print(formatv("{0} ran {1}: last at time {2} in thread {3}.\n", Code,
                       Scope, How.time(A.Ran->Time), A.Ran->Thread)
                   .str());
    return;
  }
  Call.print(
      formatv("{0} did not run {1}{2}.\n", Code, Scope,
              !In ? std::string()
              : A.InAll
                  ? formatv("; it ran {0} time(s) in others", A.InAll).str()
                  : std::string(", nor in any other"))
          .str());
  if (!A.Note.empty()) {
    Call.print("This is so because " + A.Note + ".\n");
    return;
  }
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "times",
                      "source",
                      {"how", target::Table::Role::Place}});
  for (const control::MissedTurn &M : A.Turns)
    Rows.add({groupedDigits(M.Last.Time), std::to_string(M.Last.Thread),
              M.Count ? groupedDigits(*M.Count) : "?", sourceOf(Call, M.Last),
              stepText(T, Loaded.process().GetTarget(), M.Last, How) +
                  (M.WentThere ? "; this way leads there, but something left "
                                 "the function before"
                               : "")});
  Call.print(Rows, "");
  if (A.Distance)
    Call.print(formatv("{0} more branch(es) between these and the code did not "
                       "run either.\n",
                       A.Distance)
                   .str());
}

static Error whyNot(CommandCall &Call, target::LoadedTrace &Loaded) {
  if (Call.words().empty())
    return createStringError(
        "missing argument: give file:line, an address or a function");
  Expected<questions::CodeSelector> Code = location(Call);
  if (!Code)
    return Code.takeError();
  const query::Trace &T = Loaded.trace();
  origins::ValueEngine Engine(T.reader());
  std::optional<answers::Activation> In;
  std::optional<Expected<control::AbsenceAnswer>> Answer;
  const bool Interrupted =
      Call.interruptibly("why-not", [&](const answers::Cancellation &Cancel) {
        Expected<std::vector<questions::CodePlace>> Places =
            questions::findCode(T, *Code, {0, T.instructions()}, Cancel);
        if (!Places) {
          Answer.emplace(Places.takeError());
          return;
        }
        if (!Call.has("ever"))
          if (Error E = callWith(Call, Loaded, *Places).moveInto(In)) {
            Answer.emplace(std::move(E));
            return;
          }
        Answer.emplace(control::whyNot(T, Engine, *Places, In,
                                       Loaded.position().Time, Cancel));
      });
  if (!*Answer)
    return Answer->takeError();
  if (Call.json()) {
    json::Object O = jsonapi::toJSON(**Answer);
    O["interrupted"] = Interrupted;
    Call.printJson(std::move(O));
    return Error::success();
  }
  if (Interrupted)
    return createStringError("interrupted");
  printAbsence(Call, Loaded, **Answer, In);
  return Error::success();
}

ArrayRef<CommandSpec> controlCommands() {
  static const OptionSpec NotOptions[] = {
      {"ever", 0, nullptr,
       "In the whole run, even if the code belongs to a call under way."},
      FullOption,
      JsonOption};
  static const OptionSpec Options[] = {
      {"all", 0, nullptr,
       "Also the branches of the system's code, and what called the first "
       "function of a thread."},
      {"limit", 0, "count", "Maximum number of steps (default 100)."},
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "why-here",
       .Run = whyHere,
       .Help = "Show why the program came here: the branches and calls that "
               "the present instruction depends on.",
       .Arguments = "[--all]",
       .Details =
           "Shows the last branch that decided that the instruction of the "
           "selected frame runs, with the values that it compared; then the "
           "branch that this one depends on, then the call, and so on, up to "
           "main or the start of the thread. What depends on what is known "
           "from the graph of each function's code. Branches of the system's "
           "code are left out. A branch that decided "
           "more than once in a call, as that of a loop, is shown once.\n"
           "An indirect jump, as of a switch, may have targets that were never "
           "used: where the answer depends on them, it says so.\n",
       .Examples = "  chronicle why-here\n"
                   "  chronicle why-here --all --limit 3\n",
       .Options = Options,
       .MostWords = 0},
      {.Name = "why-not",
       .Run = whyNot,
       .Help = "Show why a line did not run: the branch that went the other "
               "way.",
       .Arguments = "[--ever] <file:line> | <address> | <function>",
       .Details =
           "Asks about the call of the selected frame, or the next one outside "
           "of it that the code belongs to, from its beginning to its end; if "
           "no call under way has the code, or with --ever, about the whole "
           "run. If the code ran, it says when.\n"
           "Otherwise it shows the branches that came closest: those whose "
           "other way leads to the code, or to the next branch before it, each "
           "at the last time that it ran, with the values compared.\n",
       .Examples = "  chronicle why-not parser.c:120\n"
                   "  chronicle why-not --ever handle_error\n",
       .Options = NotOptions,
       .Words = Completes::Location},
  };
  return Table;
}

} // namespace chronicle::causes
