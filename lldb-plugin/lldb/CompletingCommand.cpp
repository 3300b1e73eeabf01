// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/lldb/CompletingCommand.h"
#include "lldb-plugin/lldb/ForwardingCommand.h"

using namespace lldb_private;
using lldb::CommandObjectSP;

namespace chronicle::internals {
namespace {

/// A command that was added through the public API, with completion.
class CompletingCommand : public ForwardingCommand {
public:
  CompletingCommand(const char *Name, CommandObjectSP Command,
                    Completer Complete)
      : ForwardingCommand(Name, std::move(Command)),
        Complete(std::move(Complete)) {}

  bool WantsCompletion() override { return true; }
  void HandleCompletion(CompletionRequest &Request) override;

private:
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
