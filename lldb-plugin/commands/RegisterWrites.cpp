// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/RegisterWrites.h"
#include "lldb-plugin/target/Describe.h"
#include "lldb-plugin/target/Table.h"
#include "lldb-plugin/values/ValueText.h"
#include "lldb-plugin/values/WriterText.h"
#include "query/json/JsonValues.h"
#include "query/variables/VariableWrites.h"
#include "trace-format/Text.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace chronicle::commands {

using variables::CallScope;
using variables::RegisterWriteAnswer;

std::string WatchedRegister::title() const {
  if (!isVariable())
    return Name;
  lldb::SBType Shown = Type;
  const char *TypeName = Shown.GetDisplayTypeName();
  return formatv("({0}) {1}, in register {2} here", TypeName ? TypeName : "?",
                 Name, Register.Name);
}

std::string WatchedRegister::text(lldb::SBTarget Target,
                                  ArrayRef<uint8_t> Value) const {
  if (isVariable() && values::isPlain(Type))
    return values::valueText(values::valueOf(Target, Value, Type));
  lldb::SBType Shown = Type;
  if (isVariable() && Shown.GetCanonicalType().IsPointerType() &&
      Value.size() == 8)
    return formatv("{0:x+16}", support::endian::read64le(Value.data()));
  return target::valueText(Value);
}

Expected<std::optional<WatchedRegister>> watchedRegister(CommandCall &Call) {
  const std::string Name = Call.text();
  if (Call.has("address") || Name.empty())
    return std::nullopt;
  lldb::SBFrame Frame = Call.selectedFrame();
  if (Name[0] == '$') {
    Expected<registers::Register> R = registers::registerNamed(Name);
    if (R)
      return WatchedRegister{Name, std::move(*R), {}};
    // Anything else with a dollar sign is a variable of LLDB.
    if (Frame.FindRegister(Name.c_str() + 1).IsValid())
      return R.takeError();
    consumeError(R.takeError());
    return std::nullopt;
  }
  lldb::SBValue Value = Frame.GetValueForVariablePath(Name.c_str());
  if (!Value.IsValid() || Value.GetError().Fail() || values::isInMemory(Value))
    return std::nullopt;
  if (Value.GetType().IsPointerType())
    Value = Value.GetStaticValue();
  Expected<registers::Register> R =
      registers::registerNamed(Value.GetLocation() ? Value.GetLocation() : "");
  if (!R) {
    consumeError(R.takeError()); // it is computed, or in several places
    return std::nullopt;
  }
  const auto Size = uint32_t(Value.GetByteSize());
  if (!Size || Size > R->Bytes.Size || Value.GetType().IsReferenceType())
    return std::nullopt;
  R->Bytes.Size = Size;
  return WatchedRegister{Name, std::move(*R), Value.GetType()};
}

Expected<CallScope> selectedScope(CommandCall &Call,
                                  target::LoadedTrace &Loaded) {
  lldb::SBFrame Frame = Call.selectedFrame();
  const uint32_t Thread = Call.selectedThread(Loaded);
  const Timestamp At = Loaded.position().Time;
  Expected<std::optional<CallScope>> Scope =
      Frame.IsValid() && Frame.GetFrameID() != 0
          ? variables::callScopeByCfa(Loaded.trace(), Thread, At,
                                      Frame.GetCFA())
          : variables::callScope(Loaded.trace(), Thread, At, 0);
  if (!Scope)
    return Scope.takeError();
  if (!*Scope)
    return createStringError(
        "history knows no call for the selected frame: select another one");
  return **Scope;
}

static std::string writerText(const RegisterWriteAnswer &W,
                              const target::Style &How) {
  return values::writerText(W.Write.By, W.Write.Pc,
                            target::placeOf(W.Where, W.Caller, How), W.Call);
}

static Error noWrite(const query::Trace &T, const CallScope &Scope,
                     StringRef Name, bool Backward) {
  const std::string Function = values::functionOf(T, Scope.Call);
  if (!Backward)
    return createStringError(formatv("nothing writes {0} after time {1} in "
                                     "this call of {2}",
                                     Name, groupedDigits(Scope.Now), Function));
  return createStringError(
      formatv("nothing writes {0} in this call of {1} before time {2}: it had "
              "its value when the call began, at time {3}; 'up' and ask again "
              "for the caller",
              Name, Function, groupedDigits(Scope.Now),
              groupedDigits(Scope.Call.Entry)));
}

/// The variable, wherever its call keeps it.
static variables::RegisterVariable variableOf(CommandCall &Call,
                                              const query::Trace &T,
                                              const WatchedRegister &What,
                                              const CallScope &Scope) {
  lldb::SBFrame Frame = Call.selectedFrame();
  // An outer frame is at its call, which ends where it returns to.
  const uint64_t Pc = Frame.GetPC() - (Scope.Call.Pc == Frame.GetPC() ? 0 : 1);
  return variables::registerVariable(T, Scope, What.Name, What.Register, Pc);
}

/// The value before the write; a variable may have had none.
static std::string oldText(const RegisterWriteAnswer &W,
                           const WatchedRegister &What, lldb::SBTarget Target) {
  return W.Old.empty() ? "not set" : What.text(Target, W.Old);
}

static json::Object toJSON(const RegisterWriteAnswer &W,
                           const WatchedRegister &What, lldb::SBTarget Target) {
  json::Object O = jsonapi::toJSON(W);
  O["expression"] = jsonapi::jsonText(What.Name);
  if (What.isVariable()) {
    lldb::SBType Type = What.Type;
    O["type"] = jsonapi::jsonText(Type.GetDisplayTypeName());
  }
  O["old-value"] = W.Old.empty() ? json::Value(nullptr)
                                 : jsonapi::jsonText(What.text(Target, W.Old));
  O["new-value"] = jsonapi::jsonText(What.text(Target, W.New));
  return O;
}

Error oneRegisterWrite(CommandCall &Call, target::LoadedTrace &Loaded,
                       const WatchedRegister &What, bool Backward) {
  const registers::Register &R = What.Register;
  Expected<CallScope> Scope = selectedScope(Call, Loaded);
  if (!Scope)
    return Scope.takeError();
  const query::Trace &T = Loaded.trace();
  origins::ValueEngine Engine(T.reader());
  Expected<std::optional<RegisterWriteAnswer>> Found =
      Call.ask<std::optional<RegisterWriteAnswer>>(
          [&](const answers::Cancellation &Cancel) {
            if (What.isVariable()) {
              const auto V = variableOf(Call, T, What, *Scope);
              return Backward
                         ? variables::lastVariableWrite(T, Engine, V, Cancel)
                         : variables::nextVariableWrite(T, Engine, V, Cancel);
            }
            return Backward ? variables::lastRegisterWrite(T, Engine, *Scope, R,
                                                           Scope->Now, Cancel)
                            : variables::nextRegisterWrite(T, Engine, *Scope, R,
                                                           Scope->Now, Cancel);
          });
  if (!Found)
    return Found.takeError();
  if (!*Found)
    return noWrite(T, *Scope, What.title(), Backward);
  lldb::SBTarget Target = Loaded.process().GetTarget();
  const RegisterWriteAnswer &Answer = **Found;
  const answers::RegisterWrite &W = Answer.Write;
  if (!Call.json()) {
    const target::Style How = Call.style();
    Call.print(formatv("{0}: {1} -> {2}\n  time {3}, thread {4}: {5}\n",
                       What.title(), oldText(Answer, What, Target),
                       What.text(Target, Answer.New), How.time(W.Time),
                       W.Thread, How.place(writerText(Answer, How)))
                   .str());
  }
  json::Object Json = toJSON(Answer, What, Target);
  if (Call.has("no-jump")) {
    if (Call.json())
      Call.printJson(std::move(Json));
    return Error::success();
  }
  // As for memory: asking again finds the next one.
  const Timestamp After = W.visibleFrom();
  Call.jump(Loaded, {Backward ? After - (After != 0) : After, W.Thread},
            {.Kind = Backward ? session::StopKind::BeforeWrite
                              : session::StopKind::AfterWrite,
             .Time = W.Time},
            std::move(Json));
  return Error::success();
}

target::Table tableOfWrites() {
  return target::Table({{"time", target::Table::Role::Time},
                        "thread",
                        "old",
                        "new",
                        {"written by", target::Table::Role::Place}});
}

Error allRegisterWrites(CommandCall &Call, target::LoadedTrace &Loaded,
                        const WatchedRegister &What) {
  if (Call.has("where"))
    return createStringError("--where is for values in memory, not for " +
                             What.title() + ": leave it out");
  lldb::SBTarget Target = Loaded.process().GetTarget();
  Expected<CallScope> Scope = selectedScope(Call, Loaded);
  if (!Scope)
    return Scope.takeError();
  const query::Trace &T = Loaded.trace();
  origins::ValueEngine Engine(T.reader());
  answers::TimeRange When{0, T.instructions()};
  std::string Title = What.title();
  if (What.isVariable() || !Call.has("any-time")) {
    if (Error E = variables::timeOf(T, Scope->Call).moveInto(When))
      return E;
    Title += formatv(", during this call of {0}, time {1} to {2}{3}",
                     values::functionOf(T, Scope->Call),
                     groupedDigits(When.First), groupedDigits(When.Last),
                     What.isVariable() ? "" : "; --any-time shows the others");
  }
  Expected<questions::SearchOptions> Options = Call.searchOptions(Loaded, When);
  if (!Options)
    return Options.takeError();
  Options->Thread = Scope->Call.Thread;
  Expected<SearchResult<RegisterWriteAnswer>> Found =
      Call.collect<RegisterWriteAnswer>(
          [&](questions::Visitor<RegisterWriteAnswer> Visit,
              const answers::Cancellation &Cancel) {
            return What.isVariable()
                       ? variables::searchVariableWrites(
                             T, Engine, variableOf(Call, T, What, *Scope),
                             *Options, Visit, Cancel)
                       : variables::searchRegisterWrites(
                             T, Engine, What.Register, *Options, Visit, Cancel);
          });
  if (!Found)
    return Found.takeError();
  if (Call.json()) {
    json::Array Results;
    for (const RegisterWriteAnswer &W : Found->Answers)
      Results.push_back(toJSON(W, What, Target));
    Call.printResults(std::move(Results), *Found);
    return Error::success();
  }
  Call.print(Title + "\n");
  const target::Style How = Call.style();
  target::Table Rows = tableOfWrites();
  for (const RegisterWriteAnswer &W : Found->Answers)
    Rows.add({groupedDigits(W.Write.Time), std::to_string(W.Write.Thread),
              oldText(W, What, Target), What.text(Target, W.New),
              writerText(W, How)});
  Call.print(Rows, "Nothing writes it.");
  Call.printEnd(*Found);
  return Error::success();
}

} // namespace chronicle::commands
