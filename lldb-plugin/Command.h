// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// How a `chronicle …` command of LLDB is made.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMAND_H
#define CHRONICLE_LLDB_PLUGIN_COMMAND_H
#include "lldb-plugin/LoadedTrace.h"
#include "lldb/API/LLDB.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
namespace chronicle {
enum class Completes { Nothing, File, Function, Expression, Moment };
struct OptionSpec {
  const char *Name;
  char Short = 0;
  const char *Value = nullptr;
  const char *Help = "";
  Completes Word = Completes::Nothing;
};
class CommandCall;
struct CommandSpec {
  const char *Name;
  llvm::Error (*Run)(CommandCall &);
  const char *Help;
  const char *Arguments = "";
  const char *Details = "";
  const char *Examples = "";
  llvm::ArrayRef<OptionSpec> Options = {};
  Completes Words = Completes::Nothing;
  unsigned MostWords = ~0u;
  const char *Repeat = "";
  const char *Alias = nullptr;
};
class CommandCall {
public:
  CommandCall(const CommandSpec &Spec, lldb::SBDebugger Debugger,
              lldb::SBCommandReturnObject &Result)
      : Spec(Spec), Debugger(Debugger), Result(Result) {}
  llvm::Error parse(llvm::ArrayRef<llvm::StringRef> Given);
  bool has(llvm::StringRef Option) const;
  llvm::StringRef value(llvm::StringRef Option,
                        llvm::StringRef Default = "") const;
  llvm::Expected<uint64_t> number(llvm::StringRef Option,
                                  uint64_t Default) const;
  llvm::ArrayRef<llvm::StringRef> words() const { return Words; }
  bool json() const { return has("json"); }
  lldb::SBDebugger debugger() const { return Debugger; }
  lldb::SBCommandReturnObject &result() { return Result; }
  llvm::Expected<std::shared_ptr<LoadedTrace>> loaded() const;
  void printJson(llvm::json::Value Value);
  bool interruptibly(llvm::StringRef Title,
                     llvm::function_ref<void(const Cancellation &)> Work);

private:
  const CommandSpec &Spec;
  lldb::SBDebugger Debugger;
  lldb::SBCommandReturnObject &Result;
  std::vector<std::pair<const OptionSpec *, llvm::StringRef>> Options;
  std::vector<llvm::StringRef> Words;
};
bool addCommand(lldb::SBCommandInterpreter Interpreter, lldb::SBCommand Group,
                const CommandSpec &Spec);
extern const OptionSpec JsonOption;
llvm::ArrayRef<CommandSpec> reverseCommands();
} // namespace chronicle
#endif
