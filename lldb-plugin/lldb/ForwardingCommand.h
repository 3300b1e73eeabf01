// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A command that stands in the place of another and leaves to it whatever it
/// does not override.
///
/// The classes that LLDB wraps the commands of a plugin in are in no header, so
/// they cannot be derived from.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_FORWARDINGCOMMAND_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_FORWARDINGCOMMAND_H

#include "lldb-plugin/lldb/PrivateLldb.h"

namespace chronicle::internals {

class ForwardingCommand : public lldb_private::CommandObject {
public:
  ForwardingCommand(const char *Name, lldb::CommandObjectSP To)
      : CommandObject(To->GetCommandInterpreter(), Name, "", "",
                      To->GetFlags().Get()),
        Inner(std::move(To)) {}

  void Execute(const char *Words,
               lldb_private::CommandReturnObject &Result) override {
    Inner->Execute(Words, Result);
  }
  llvm::StringRef GetHelp() override { return Inner->GetHelp(); }
  llvm::StringRef GetHelpLong() override { return Inner->GetHelpLong(); }
  llvm::StringRef GetSyntax() override { return Inner->GetSyntax(); }
  void SetHelp(llvm::StringRef Text) override { Inner->SetHelp(Text); }
  void SetHelpLong(llvm::StringRef Text) override { Inner->SetHelpLong(Text); }
  void GenerateHelpText(lldb_private::Stream &Out) override {
    Inner->GenerateHelpText(Out);
  }
  bool IsRemovable() const override { return Inner->IsRemovable(); }
  bool WantsRawCommandString() override {
    return Inner->WantsRawCommandString();
  }
  bool WantsCompletion() override { return Inner->WantsCompletion(); }
  void HandleCompletion(lldb_private::CompletionRequest &Request) override {
    Inner->HandleCompletion(Request);
  }
  lldb_private::Options *GetOptions() override { return Inner->GetOptions(); }
  std::optional<std::string> GetRepeatCommand(lldb_private::Args &Words,
                                              uint32_t Index) override {
    return Inner->GetRepeatCommand(Words, Index);
  }

protected:
  lldb::CommandObjectSP Inner;
};

} // namespace chronicle::internals

#endif
