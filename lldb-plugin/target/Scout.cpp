// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/target/Scout.h"
#include "lldb-plugin/session/ThreadNames.h"
#include <map>

using namespace llvm;

namespace chronicle::target {

/// By the user's process. Only commands make and remove scouts, because a
/// debugger must not be destroyed on a thread that may outlive LLDB.
static std::map<uint32_t, std::unique_ptr<Scout>> &scouts() {
  static auto *Map = new std::map<uint32_t, std::unique_ptr<Scout>>();
  return *Map;
}

Expected<Scout *> Scout::of(LoadedTrace &Loaded) {
  static std::mutex Lock;
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto It = scouts().begin(); It != scouts().end();)
    It = LoadedTrace::of(It->first) ? std::next(It) : scouts().erase(It);
  std::unique_ptr<Scout> &Entry = scouts()[Loaded.process().GetUniqueID()];
  if (Entry)
    return Entry.get();
  lldb::SBDebugger Debugger =
      lldb::SBDebugger::Create(/*source_init_files=*/false);
  Debugger.SetAsync(false);
  Expected<std::shared_ptr<LoadedTrace>> Inner = Loaded.connectHidden(Debugger);
  if (!Inner) {
    lldb::SBDebugger::Destroy(Debugger);
    scouts().erase(Loaded.process().GetUniqueID());
    return Inner.takeError();
  }
  Entry.reset(new Scout(Debugger, std::move(*Inner)));
  return Entry.get();
}

Scout::~Scout() {
  Inner.reset();
  lldb::SBDebugger::Destroy(Debugger);
}

Error Scout::go(Timestamp Time, uint32_t Thread) {
  session::Position Here = Inner->position();
  if (Here.Time == Time && Thread && Here.Thread == Thread)
    return Error::success();
  return Inner->jumpHidden(Time, Thread);
}

lldb::SBThread Scout::thread() const {
  return Inner->process().GetThreadByID(
      session::osThread(Inner->trace(), Inner->position().Thread));
}

} // namespace chronicle::target
