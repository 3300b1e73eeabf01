// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/GroupCommand.h"
#include "lldb-plugin/lldb/ForwardingCommand.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

/// A group of commands in which no subcommand means a certain one.
class GroupCommand : public ForwardingCommand {
public:
  GroupCommand(const char *Name, CommandObjectSP Group, CommandObjectSP Default)
      : ForwardingCommand(Name, std::move(Group)), Default(std::move(Default)) {
    SetIsUserCommand(true);
  }

  void Execute(const char *Words, CommandReturnObject &Result) override {
    const bool None = llvm::StringRef(Words ? Words : "").trim().empty();
    (None ? Default : Inner)->Execute(None ? "" : Words, Result);
  }

  bool IsMultiwordObject() override { return true; }
  CommandObjectMultiword *GetAsMultiwordCommand() override {
    return Inner->GetAsMultiwordCommand();
  }
  CommandObjectSP GetSubcommandSP(llvm::StringRef Name,
                                  StringList *Matches) override {
    return Inner->GetSubcommandSP(Name, Matches);
  }
  CommandObjectSP GetSubcommandSPExact(llvm::StringRef Name) override {
    return Inner->GetSubcommandSPExact(Name);
  }
  CommandObject *GetSubcommandObject(llvm::StringRef Name,
                                     StringList *Matches) override {
    return Inner->GetSubcommandObject(Name, Matches);
  }
  bool LoadSubCommand(llvm::StringRef Name,
                      const CommandObjectSP &Command) override {
    return Inner->LoadSubCommand(Name, Command);
  }
  llvm::Error LoadUserSubcommand(llvm::StringRef Name,
                                 const CommandObjectSP &Command,
                                 bool CanReplace) override {
    return Inner->LoadUserSubcommand(Name, Command, CanReplace);
  }

private:
  CommandObjectSP Default;
};

} // namespace

void setDefaultCommand(lldb::SBCommandInterpreter Interpreter,
                       const char *Subcommand) {
  CommandObject::CommandMap &Groups =
      userGroups(privateInterpreter(Interpreter));
  auto Group = Groups.find("chronicle");
  if (Group == Groups.end())
    return;
  CommandObjectSP Default = Group->second->GetSubcommandSPExact(Subcommand);
  if (Default)
    Group->second =
        std::make_shared<GroupCommand>("chronicle", Group->second, Default);
}

} // namespace chronicle::internals
