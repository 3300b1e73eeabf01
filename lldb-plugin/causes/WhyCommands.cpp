// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// why.

#include "lldb-plugin/causes/CauseCommands.h"
#include "lldb-plugin/causes/SliceText.h"
#include "lldb-plugin/causes/StepText.h"
#include "lldb-plugin/commands/RegisterWrites.h"
#include "lldb-plugin/commands/WatchedMemory.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/ValueText.h"
#include "query/json/JsonValues.h"
#include "trace-format/Text.h"

using namespace llvm;

namespace chronicle::causes {

using namespace commands;
using answers::OriginKind;
using variables::OriginAnswer;
using variables::OriginStepAnswer;

namespace {
/// The value that the user asks about.
struct AskedValue {
  std::string Title;
  answers::ValuePlace Place;
  Timestamp At = 0;
  lldb::SBType Type; ///< invalid if not known
};
} // namespace

static std::string textOf(CommandCall &Call, const AskedValue &What,
                          ArrayRef<uint8_t> Value) {
  lldb::SBType Type = What.Type;
  if (Type.IsValid() && values::isPlain(Type) &&
      Type.GetByteSize() == Value.size())
    return values::valueText(
        values::valueOf(Call.debugger().GetSelectedTarget(), Value, Type));
  return target::valueText(Value);
}

/// How much deeper than the first the step is shown: a value in several parts
/// branches.
static std::vector<unsigned> depthsOf(ArrayRef<OriginStepAnswer> Steps) {
  std::vector<unsigned> Depths(Steps.size()), Children(Steps.size());
  for (const OriginStepAnswer &S : Steps)
    if (S.Step.Next)
      ++Children[*S.Step.Next];
  for (size_t I = 0; I < Steps.size(); ++I)
    if (std::optional<size_t> Next = Steps[I].Step.Next)
      Depths[I] = Depths[*Next] + (Children[*Next] > 1);
  return Depths;
}

static Expected<AskedValue> askedValue(CommandCall &Call,
                                       target::LoadedTrace &Loaded) {
  constexpr uint64_t Longest = 64;
  AskedValue Result;
  Result.At = Loaded.position().Time;
  if (Call.has("at")) {
    Expected<session::Position> At =
        target::parseMoment(Loaded.trace(), Call.value("at"), Result.At);
    if (!At)
      return At.takeError();
    Result.At = At->Time;
  }
  Expected<std::optional<WatchedRegister>> Register = watchedRegister(Call);
  if (!Register)
    return Register.takeError();
  if (*Register) {
    const WatchedRegister &What = **Register;
    if (What.Register.Flags)
      return createStringError(
          "the flags are not one value: ask why of the "
          "registers that the instruction before compared");
    Result.Title = What.title();
    Result.Type = What.Type;
    Result.Place = {false, What.Register.Bytes.Offset, What.Register.Bytes.Size,
                    Call.selectedThread(Loaded)};
    if (Call.has("at")) {
      if (What.isVariable())
        return createStringError(
            "--at is for registers and addresses: "
            "'chronicle goto' there to ask for a variable");
      return Result;
    }
    Expected<variables::CallScope> Scope = selectedScope(Call, Loaded);
    if (!Scope)
      return Scope.takeError();
    Result.At = Scope->Now;
    return Result;
  }
  Expected<Watched> What = watchedMemory(Call, Loaded);
  if (!What)
    return What.takeError();
  const uint64_t Size = What->Range.Last - What->Range.First + 1;
  if (Size > Longest)
    return createStringError(
        formatv("'{0}' has {1} bytes, too many for one answer: ask for a "
                "member or an element, of up to {2} bytes",
                What->Name, Size, Longest));
  Result.Title = What->title();
  Result.Type = What->Type;
  Result.Place = {true, What->Range.First, uint32_t(Size), 0};
  return Result;
}

static void printTrail(CommandCall &Call, target::LoadedTrace &Loaded,
                       const AskedValue &What, const OriginAnswer &Answer) {
  const query::Trace &T = Loaded.trace();
  lldb::SBTarget Target = Loaded.process().GetTarget();
  const target::Style How = Call.style();
  const bool All = Call.has("all");
  const std::vector<unsigned> Depths = depthsOf(Answer.Steps);
  target::Table Rows({{"time", target::Table::Role::Time},
                      "thread",
                      "value",
                      {"how", target::Table::Role::Place}});
  size_t Folded = 0;
  for (size_t I = 0; I < Answer.Steps.size(); ++I) {
    const OriginStepAnswer &S = Answer.Steps[I];
    if (S.Carries && !All) {
      ++Folded;
      continue;
    }
    std::string Indent(2 * size_t(Depths[I]), ' ');
    if (S.Step.Next && Depths[I] > Depths[*S.Step.Next])
      Indent += formatv("bytes {0} to {1}: ", S.Step.PartOffset,
                        S.Step.PartOffset + S.Step.Value.size() - 1);
    Rows.add({groupedDigits(S.Step.Time),
              S.Step.Thread ? std::to_string(S.Step.Thread) : "",
              textOf(Call, What, S.Step.Value),
              Indent + stepText(T, Target, S, How)});
  }
  Call.print(Rows, "Nothing is known about it.");
  if (Folded)
    Call.print(formatv("{0} more step(s) carry the value within a line: --all "
                       "shows them.\n",
                       Folded)
                   .str());
  for (const OriginStepAnswer &S : Answer.Steps)
    if (S.Step.Made == OriginKind::Computed && !S.Step.Operands.empty()) {
      const answers::OriginStep::Operand &O = S.Step.Operands.front();
      const std::string Name =
          O.Place.InMemory
              ? formatv("-a {0:x} -s {1}", O.Place.Address, O.Place.Size).str()
              : "$" + placeName(T, O.Place, S.Step.Time);
      Call.print(formatv("Next, for example: 'chronicle goto {0}', 'chronicle "
                         "why --at {0} {1}'.\n",
                         S.Step.Time, Name)
                     .str());
      break;
    }
}

static Error whySlice(CommandCall &Call, target::LoadedTrace &Loaded,
                      const AskedValue &What, uint64_t Limit) {
  constexpr uint64_t DefaultDepth = 10, Deepest = ~0u;
  Expected<uint64_t> Depth = Call.number("depth", DefaultDepth);
  if (!Depth)
    return Depth.takeError();
  origins::ValueEngine Engine(Loaded.trace().reader());
  std::optional<Expected<variables::SliceAnswer>> Answer;
  const bool Interrupted =
      Call.interruptibly("why", [&](const answers::Cancellation &Cancel) {
        Answer.emplace(variables::sliceOf(
            Loaded.trace(), Engine, What.Place, What.At,
            {uint32_t(std::min(*Depth, Deepest)), Limit}, Cancel));
      });
  if (!*Answer)
    return Answer->takeError();
  const variables::SliceAnswer &Found = **Answer;
  if (Call.json()) {
    json::Object O = jsonapi::toJSON(Found);
    O["expression"] = jsonapi::jsonText(What.Title);
    O["interrupted"] = Interrupted;
    Call.printJson(std::move(O));
    return Error::success();
  }
  Call.print(What.Title + "\n");
  if (Call.has("lines")) {
    const std::string Lines = sliceLines(Call.debugger(), Found, Call.style());
    Call.print(Lines.empty() ? "No source line is known to have a part in it.\n"
                             : Lines);
  } else {
    const SliceTree Tree =
        sliceTree(Loaded.trace(), Loaded.process().GetTarget(), Found,
                  Call.has("all"), Call.style(), [&](ArrayRef<uint8_t> Value) {
                    // A register may be wider than the value that it has.
                    if (Found.Roots.size() == 1)
                      Value = Value.take_front(
                          std::min<size_t>(Value.size(), What.Place.Size));
                    return textOf(Call, What, Value);
                  });
    Call.print(Tree.Rows, "Nothing is known about it.");
    if (Tree.Folded)
      Call.print(formatv("{0} more step(s) carry a value within a line: --all "
                         "shows them.\n",
                         Tree.Folded)
                     .str());
  }
  if (Interrupted)
    Call.print("Interrupted: this is what was found so far.\n");
  else if (Found.Nodes.size() >= Limit)
    Call.print(
        formatv("The slice goes on: raise --limit ({0}).\n", Limit).str());
  else if (!Found.Complete)
    Call.print(
        formatv("The slice goes on: raise --depth ({0}).\n", *Depth).str());
  return Error::success();
}

static Error why(CommandCall &Call, target::LoadedTrace &Loaded) {
  constexpr uint64_t DefaultLimit = 1000;
  if (!Call.has("slice"))
    for (const char *Option : {"depth", "lines"})
      if (Call.has(Option))
        return createStringError(formatv("--{0} is for --slice", Option));
  Expected<AskedValue> What = askedValue(Call, Loaded);
  if (!What)
    return What.takeError();
  Expected<uint64_t> Limit = Call.number("limit", DefaultLimit);
  if (!Limit)
    return Limit.takeError();
  if (!*Limit)
    return createStringError("invalid value '0' of --limit: expected a "
                             "positive integer");
  if (Call.has("slice"))
    return whySlice(Call, Loaded, *What, *Limit);
  origins::ValueEngine Engine(Loaded.trace().reader());
  std::optional<Expected<OriginAnswer>> Answer;
  const bool Interrupted =
      Call.interruptibly("why", [&](const answers::Cancellation &Cancel) {
        Answer.emplace(variables::whyValue(Loaded.trace(), Engine, What->Place,
                                           What->At, *Limit, Cancel));
      });
  if (!*Answer)
    return Answer->takeError();
  if (Call.json()) {
    json::Object O = jsonapi::toJSON(**Answer);
    O["expression"] = jsonapi::jsonText(What->Title);
    O["interrupted"] = Interrupted;
    Call.printJson(std::move(O));
    return Error::success();
  }
  Call.print(What->Title + "\n");
  printTrail(Call, Loaded, *What, **Answer);
  if (Interrupted)
    Call.print("Interrupted: this is what was found so far.\n");
  else if (!(*Answer)->Complete)
    Call.print("The way goes on: raise --limit, or ask again at the last "
               "time.\n");
  return Error::success();
}

ArrayRef<CommandSpec> whyCommands() {
  static const OptionSpec Options[] = {
      {"address", 'a', "address",
       "Memory at this address, instead of an expression. A number or an "
       "expression whose value is the address."},
      {"size", 's', "bytes",
       "Size of that memory (default 8). A number or an expression."},
      {"at", 0, "moment",
       "The value that a register or an address has at this moment.",
       Completes::Moment},
      {"all", 0, nullptr,
       "Also the steps that only carry the value within a source line."},
      {"slice", 0, nullptr,
       "Also follow the operands of what computed the value: all that it "
       "depends on, as a tree."},
      {"lines", 0, nullptr, "With --slice: the source lines, marked."},
      {"depth", 0, "count",
       "With --slice: maximum number of computations one after the other "
       "(default 10)."},
      {"limit", 0, "count", "Maximum number of steps (default 1000)."},
      FullOption,
      JsonOption};
  static const CommandSpec Table[] = {
      {.Name = "why",
       .Run = why,
       .Help = "Show where a value came from: every place that it was copied "
               "through, and what made it.",
       .Arguments = "[--all] [--slice [--lines]] <expression> | $register | -a "
                    "<address> -s <size>",
       .Details =
           "Follows the value backward, byte by byte, through memory and "
           "registers, copies, arguments, results and threads, to what made "
           "it: an instruction that computed it (with the operands, which are "
           "the next questions), a constant in the code, the initial data of "
           "a module, a system call, or memory that nothing ever wrote.\n"
           "Prints a table, newest step first; a value that was put together "
           "from parts branches. 'chronicle goto' takes the times. Ctrl-C "
           "shows what was found so far.\n"
           "--slice also follows the operands: the slice of the value is all "
           "that had a part in computing it, byte by byte. What a value was "
           "computed from is indented below it; what several need is shown "
           "once. The condition of a conditional move counts; the address that "
           "a value was read from and the branches before do not (why-here "
           "shows those). --lines shows the source lines of the slice "
           "instead.\n",
       .Examples = "  chronicle why Account->Balance\n"
                   "  chronicle why --all $rdi\n"
                   "  chronicle why --slice --depth 3 Total\n"
                   "  chronicle why --slice --lines Total\n"
                   "  chronicle why --at 1,234,567 -a 0x4c4010 -s 4\n",
       .Options = Options,
       .Words = Completes::Expression},
  };
  return Table;
}

} // namespace chronicle::causes
