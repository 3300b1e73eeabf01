// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/ExpressionCommand.h"
#include "lldb-plugin/lldb/ForwardingCommand.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

class ExpressionCommand : public ForwardingCommand {
public:
  ExpressionCommand(const char *Name, CommandObjectSP Command,
                    std::function<void()> Done)
      : ForwardingCommand(Name, std::move(Command)), Done(std::move(Done)) {}

  void Execute(const char *Words, CommandReturnObject &Result) override {
    // The command marks errors in what the user wrote.
    Inner->SetOriginalCommandString(m_original_command);
    Inner->Execute(Words, Result);
    Done();
  }

private:
  std::function<void()> Done;
};

} // namespace

void afterExpressions(lldb::SBCommandInterpreter Interpreter,
                      const std::function<void()> &Done) {
  CommandInterpreter &Private = privateInterpreter(Interpreter);
  CommandObject::CommandMap &Commands = builtInCommands(Private);
  for (const char *Name : {"expression", "dwim-print"}) {
    auto It = Commands.find(Name);
    if (It == Commands.end())
      continue;
    const CommandObjectSP Old = It->second;
    const auto New = std::make_shared<ExpressionCommand>(Name, Old, Done);
    It->second = New;
    for (const auto &[Alias, Command] : Private.GetAliases())
      if (CommandObjectSP *Behind = behindAlias(*Command);
          Behind && *Behind == Old)
        *Behind = New;
  }
}

} // namespace chronicle::internals
