// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/CompletingCommand.h"
#include "lldb-plugin/lldb/PrivateLldb.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

/// A command that was added through the public API, with completion. The class
/// that LLDB wraps such commands in is in no header, so it cannot be derived
/// from; this one forwards to it instead.
class CompletingCommand : public CommandObject {
public:
  CompletingCommand(const char *Name, CommandObjectSP Inner, Completer Complete)
      : CommandObject(Inner->GetCommandInterpreter(), Name, "", "",
                      Inner->GetFlags().Get()),
        Inner(std::move(Inner)), Complete(std::move(Complete)) {}

  void HandleCompletion(CompletionRequest &Request) override;

  llvm::StringRef GetHelp() override { return Inner->GetHelp(); }
  llvm::StringRef GetHelpLong() override { return Inner->GetHelpLong(); }
  llvm::StringRef GetSyntax() override { return Inner->GetSyntax(); }
  void SetHelp(llvm::StringRef Text) override { Inner->SetHelp(Text); }
  void SetHelpLong(llvm::StringRef Text) override { Inner->SetHelpLong(Text); }
  void GenerateHelpText(Stream &Out) override { Inner->GenerateHelpText(Out); }
  bool IsRemovable() const override { return Inner->IsRemovable(); }
  bool WantsRawCommandString() override {
    return Inner->WantsRawCommandString();
  }
  bool WantsCompletion() override { return true; }
  Options *GetOptions() override { return Inner->GetOptions(); }
  std::optional<std::string> GetRepeatCommand(Args &Words,
                                              uint32_t Index) override {
    return Inner->GetRepeatCommand(Words, Index);
  }
  void Execute(const char *Words, CommandReturnObject &Result) override {
    Inner->Execute(Words, Result);
  }

private:
  CommandObjectSP Inner;
  Completer Complete;
};

void CompletingCommand::HandleCompletion(CompletionRequest &Request) {
  std::vector<llvm::StringRef> Words;
  for (const Args::ArgEntry &Word : Request.GetParsedLine()) {
    if (Words.size() > Request.GetCursorIndex())
      break;
    Words.push_back(Word.ref());
  }
  // After a space LLDB has no word at the cursor yet.
  if (Words.size() <= Request.GetCursorIndex())
    Words.emplace_back("");
  Words.back() = Words.back().take_front(Request.GetCursorCharPos());
  for (const std::string &Word : Complete(Words))
    Request.AddCompletion(Word, "",
                          llvm::StringRef(Word).ends_with("/")
                              ? CompletionMode::Partial
                              : CompletionMode::Normal);
}

} // namespace

void setCompletion(lldb::SBCommandInterpreter Interpreter, const char *Name,
                   Completer Complete) {
  auto &Groups = privateInterpreter(Interpreter).GetUserMultiwordCommands();
  auto Group = Groups.find("chronicle");
  if (Group == Groups.end())
    return;
  CommandObjectSP Inner = Group->second->GetSubcommandSPExact(Name);
  if (!Inner)
    return;
  // LLDB replaces only what a user has added.
  Inner->SetIsUserCommand(true);
  // An error would be of LLDB's copy of LLVM, which ours cannot handle, only
  // destroy. Without completion the command still works.
  if (llvm::Error Failed = Group->second->LoadUserSubcommand(
          Name,
          std::make_shared<CompletingCommand>(Name, Inner, std::move(Complete)),
          /*can_replace=*/true))
    return;
}

} // namespace chronicle::internals
