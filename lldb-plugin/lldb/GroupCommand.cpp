// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/GroupCommand.h"
#include "lldb-plugin/lldb/PrivateLldb.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

/// A group of commands in which no subcommand means a certain one. Everything
/// else is the group's own.
class GroupCommand : public CommandObject {
public:
  GroupCommand(const char *Name, CommandObjectSP Inner, CommandObjectSP Default)
      : CommandObject(Inner->GetCommandInterpreter(), Name, "", "",
                      Inner->GetFlags().Get()),
        Inner(std::move(Inner)), Default(std::move(Default)) {
    SetIsUserCommand(true);
  }

  void Execute(const char *Words, CommandReturnObject &Result) override {
    const bool None = llvm::StringRef(Words ? Words : "").trim().empty();
    (None ? Default : Inner)->Execute(None ? "" : Words, Result);
  }

  llvm::StringRef GetHelp() override { return Inner->GetHelp(); }
  llvm::StringRef GetHelpLong() override { return Inner->GetHelpLong(); }
  llvm::StringRef GetSyntax() override { return Inner->GetSyntax(); }
  void SetHelp(llvm::StringRef Text) override { Inner->SetHelp(Text); }
  void SetHelpLong(llvm::StringRef Text) override { Inner->SetHelpLong(Text); }
  void GenerateHelpText(Stream &Out) override { Inner->GenerateHelpText(Out); }
  bool IsRemovable() const override { return Inner->IsRemovable(); }
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
  bool WantsRawCommandString() override {
    return Inner->WantsRawCommandString();
  }
  bool WantsCompletion() override { return Inner->WantsCompletion(); }
  Options *GetOptions() override { return Inner->GetOptions(); }
  void HandleCompletion(CompletionRequest &Request) override {
    Inner->HandleCompletion(Request);
  }
  std::optional<std::string> GetRepeatCommand(Args &Words,
                                              uint32_t Index) override {
    return Inner->GetRepeatCommand(Words, Index);
  }

private:
  CommandObjectSP Inner, Default;
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
