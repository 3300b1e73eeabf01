// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Prompt.h"
#include "lldb-plugin/target/LoadedTrace.h"
#include "trace-format/Text.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <mutex>

using namespace llvm;

namespace chronicle::target {

/// The prompts from before, by the number of the debugger. A debugger is in it
/// while its prompt shows the time.
static std::mutex Lock;
static std::map<lldb::user_id_t, std::string> &promptsBefore() {
  // Never destroyed: stops may come after the statics of this library.
  static auto *Prompts = new std::map<lldb::user_id_t, std::string>();
  return *Prompts;
}

/// "(lldb 1,234,567) " for "(lldb) ".
static std::string promptAt(StringRef Before, uint64_t Time) {
  const size_t End = Before.rfind(')');
  const std::string Now = groupedDigits(Time);
  return End == StringRef::npos
             ? ("(" + Now + ") " + Before).str()
             : (Before.take_front(End) + " " + Now + Before.drop_front(End))
                   .str();
}

void updatePrompt(lldb::SBDebugger Debugger) {
  std::shared_ptr<LoadedTrace> Loaded = LoadedTrace::of(Debugger);
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = promptsBefore().find(Debugger.GetID());
  if (It == promptsBefore().end())
    return;
  Debugger.SetPrompt(
      (Loaded ? promptAt(It->second, Loaded->position().Time) : It->second)
          .c_str());
}

void showTimeInPrompt(lldb::SBDebugger Debugger, bool Show) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    auto &Prompts = promptsBefore();
    auto It = Prompts.find(Debugger.GetID());
    if (Show && It == Prompts.end()) {
      Prompts[Debugger.GetID()] = Debugger.GetPrompt();
    } else if (!Show && It != Prompts.end()) {
      Debugger.SetPrompt(It->second.c_str());
      Prompts.erase(It);
    }
  }
  updatePrompt(Debugger);
}

} // namespace chronicle::target
