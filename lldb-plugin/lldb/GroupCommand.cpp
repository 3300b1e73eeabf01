// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/GroupCommand.h"
#include "lldb-plugin/lldb/ForwardingCommand.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

using UnknownText = std::function<std::string(llvm::StringRef)>;

/// The public face of a result. Its constructor is protected.
struct PublicResult : lldb::SBCommandReturnObject {
  explicit PublicResult(CommandReturnObject &Result)
      : SBCommandReturnObject(Result) {}
};

/// A group of commands in which no subcommand means a certain one.
class GroupCommand : public ForwardingCommand {
public:
  GroupCommand(const char *Name, CommandObjectSP Group, CommandObjectSP Default,
               UnknownText Unknown)
      : ForwardingCommand(Name, std::move(Group)), Default(std::move(Default)),
        Unknown(std::move(Unknown)) {
    SetIsUserCommand(true);
  }

  void Execute(const char *Words, CommandReturnObject &Result) override {
    const llvm::StringRef Text = llvm::StringRef(Words ? Words : "").trim();
    if (Text.empty())
      return Default->Execute("", Result);
    const llvm::StringRef Name = Text.split(' ').first;
    const std::string Problem =
        Inner->GetSubcommandObject(Name, nullptr) ? "" : Unknown(Name);
    if (Problem.empty())
      return Inner->Execute(Words, Result);
    PublicResult(Result).SetError(Problem.c_str());
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
  UnknownText Unknown;
};

} // namespace

void setDefaultCommand(lldb::SBCommandInterpreter Interpreter,
                       const char *Subcommand, UnknownText Unknown) {
  CommandObject::CommandMap &Groups =
      userGroups(privateInterpreter(Interpreter));
  auto Group = Groups.find("chronicle");
  if (Group == Groups.end())
    return;
  CommandObjectSP Default = Group->second->GetSubcommandSPExact(Subcommand);
  if (Default)
    Group->second = std::make_shared<GroupCommand>("chronicle", Group->second,
                                                   Default, std::move(Unknown));
}

} // namespace chronicle::internals
