// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/LldbCompletion.h"
#include "lldb-plugin/LldbInternals.h"
#include "lldb-plugin/PrivateMember.h"
#include "lldb/Interpreter/CommandInterpreter.h"
#include "lldb/Interpreter/CommandObject.h"
#include "lldb/Utility/CompletionRequest.h"
#include <array>
#include <cstring>
#include <map>

using lldb_private::CommandObject;
using lldb_private::CompletionMode;
using lldb_private::CompletionRequest;
using lldb_private::CompletionResult;

PRIVATE_MEMBER(CompletedInterpreter, lldb::SBCommandInterpreter,
               lldb_private::CommandInterpreter *, m_opaque_ptr);

// LLDB does not export these two; they must do what its own do.
std::string CompletionResult::Completion::GetUniqueKey() const {
  std::string Result = std::to_string(m_completion.size()) + m_completion;
  Result += std::to_string(static_cast<int>(m_mode)) + m_descripton;
  return Result;
}

void CompletionResult::AddResult(llvm::StringRef Text,
                                 llvm::StringRef Description,
                                 CompletionMode Mode) {
  Completion New(Text, Description, Mode);
  if (m_added_values.insert(New.GetUniqueKey()).second)
    m_results.push_back(New);
}

namespace chronicle::internals {

/// The commands that have a completer, for as long as LLDB runs.
static std::map<CommandObject *, Completer> &completers() {
  static auto *Map = new std::map<CommandObject *, Completer>();
  return *Map;
}

/// Takes the place of CommandObject::HandleCompletion.
static void complete(CommandObject *Command, CompletionRequest &Request) {
  auto It = completers().find(Command);
  if (It == completers().end())
    return;
  std::vector<llvm::StringRef> Words;
  for (const lldb_private::Args::ArgEntry &Word : Request.GetParsedLine()) {
    if (Words.size() > Request.GetCursorIndex())
      break;
    Words.push_back(Word.ref());
  }
  // After a space nothing of the word is there yet.
  if (Words.size() <= Request.GetCursorIndex())
    Words.push_back("");
  Words.back() = Words.back().take_front(Request.GetCursorCharPos());
  for (const std::string &Word : It->second(Words))
    Request.AddCompletion(Word, "",
                          llvm::StringRef(Word).ends_with("/")
                              ? CompletionMode::Partial
                              : CompletionMode::Normal);
}

/// Where a virtual function is in the table of its class, in words: the Itanium
/// ABI makes a pointer to one out of just that.
template <class Member> static size_t slotOf(Member Function) {
  static_assert(sizeof(Function) == 2 * sizeof(uintptr_t));
  uintptr_t Parts[2];
  std::memcpy(Parts, &Function, sizeof(Parts));
  return (Parts[0] - 1) / sizeof(void *);
}

void setCompletion(lldb::SBCommandInterpreter Interpreter, const char *Name,
                   Completer Complete) {
  if (!matches())
    return;
  auto &Groups = (Interpreter.*memberOf(CompletedInterpreter()))
                     ->GetUserMultiwordCommands();
  auto Group = Groups.find("chronicle");
  if (Group == Groups.end())
    return;
  lldb::CommandObjectSP Command = Group->second->GetSubcommandSPExact(Name);
  if (!Command)
    return;
  // The class that LLDB wraps our commands in cannot be derived from: it is not
  // in any header. So the object gets a table of its own, that differs in one
  // entry. Two words before it belong to it too, and more after its end than
  // there is do no harm.
  constexpr size_t Before = 2, Most = 96;
  static std::array<void *, Before + Most> *Table = nullptr;
  void ***Object = reinterpret_cast<void ***>(Command.get());
  if (!Table) {
    Table = new std::array<void *, Before + Most>();
    std::memcpy(Table->data(), *Object - Before, sizeof(*Table));
    (*Table)[Before + slotOf(&CommandObject::HandleCompletion)] =
        reinterpret_cast<void *>(complete);
  }
  completers()[Command.get()] = std::move(Complete);
  *Object = Table->data() + Before;
}

} // namespace chronicle::internals
