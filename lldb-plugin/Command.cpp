// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/Command.h"
#include <chrono>
#include <future>
using namespace llvm;
using lldb::SBCommandReturnObject;
using lldb::SBDebugger;
namespace chronicle {
const OptionSpec JsonOption = {"json", 0, nullptr,
                               "Answer in JSON, on one line."};
Error CommandCall::parse(ArrayRef<StringRef> Given) {
  for (size_t I = 0; I < Given.size(); ++I) {
    StringRef W = Given[I];
    if (W.consume_front("--")) {
      for (const OptionSpec &O : Spec.Options)
        if (W == O.Name) {
          Options.push_back({&O, O.Value ? Given[++I] : ""});
        }
    } else
      Words.push_back(W);
  }
  return Error::success();
}
bool CommandCall::has(StringRef Option) const {
  return any_of(Options,
                [&](const auto &Given) { return Option == Given.first->Name; });
}
StringRef CommandCall::value(StringRef Option, StringRef Default) const {
  for (const auto &[Given, Value] : reverse(Options))
    if (Option == Given->Name)
      return Value;
  return Default;
}
Expected<uint64_t> CommandCall::number(StringRef Option,
                                       uint64_t Default) const {
  uint64_t Number = Default;
  if (has(Option) && value(Option).getAsInteger(0, Number))
    return createStringError("number");
  return Number;
}
Expected<std::shared_ptr<LoadedTrace>> CommandCall::loaded() const {
  if (std::shared_ptr<LoadedTrace> L = LoadedTrace::of(Debugger))
    return L;
  return createStringError(
      "no trace is loaded here: use 'process trace load trace.db'");
}
void CommandCall::printJson(json::Value Value) {
  std::string Text;
  raw_string_ostream(Text) << Value << '\n';
  Result.PutCString(Text.c_str());
}
bool CommandCall::interruptibly(StringRef Title,
                                function_ref<void(const Cancellation &)> Work) {
  using namespace std::chrono_literals;
  Cancellation Cancel;
  std::future<void> Done =
      std::async(std::launch::async, [&] { Work(Cancel); });
  while (Done.wait_for(20ms) != std::future_status::ready)
    if (Debugger.InterruptRequested())
      Cancel.Cancelled = true;
  return Cancel.Cancelled;
}
namespace {
struct Verb2 : lldb::SBCommandPluginInterface {
  explicit Verb2(const CommandSpec &Spec) : Spec(Spec) {}
  bool DoExecute(SBDebugger Debugger, char **Words,
                 SBCommandReturnObject &Result) override {
    SmallVector<StringRef, 8> All;
    for (; Words && *Words; ++Words)
      All.push_back(*Words);
    Result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    CommandCall Call(Spec, Debugger, Result);
    Error E = Call.parse(All);
    if (!E)
      E = Spec.Run(Call);
    if (E) {
      Result.SetError(toString(std::move(E)).c_str());
      return false;
    }
    return Result.Succeeded();
  }
  const CommandSpec &Spec;
};
} // namespace
bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec) {
  lldb::SBCommand Added = Group.AddCommand(Spec.Name, new Verb2(Spec),
                                           Spec.Help, Spec.Name, Spec.Repeat);
  if (Spec.Alias && !Interpreter.CommandExists(Spec.Alias) &&
      !Interpreter.AliasExists(Spec.Alias)) {
    SBCommandReturnObject Ignored;
    Interpreter.HandleCommand(
        formatv("command alias {0} chronicle {1}", Spec.Alias, Spec.Name)
            .str()
            .c_str(),
        Ignored);
  }
  return Added.IsValid();
}
} // namespace chronicle
