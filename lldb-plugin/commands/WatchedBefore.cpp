// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lldb-plugin/commands/WatchedBefore.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace chronicle::commands {

namespace {
/// What a jump to a write was about, and where it went.
struct Asked {
  std::string Expression;
  Watched What;
  session::Position There;
};
} // namespace

/// By LLDB's unique number of the process. Commands run one at a time.
static std::map<uint32_t, Asked> &lastAsked() {
  static auto *Map = new std::map<uint32_t, Asked>();
  return *Map;
}

/// What was asked before, if the user has neither moved nor selected another
/// frame since.
static const Asked *askedBefore(CommandCall &Call,
                                target::LoadedTrace &Loaded) {
  auto It = lastAsked().find(Loaded.process().GetUniqueID());
  if (It == lastAsked().end() || Call.has("here") || Call.has("address"))
    return nullptr;
  const Asked &Before = It->second;
  session::Position Here = Loaded.position();
  bool Moved = Here.Time != Before.There.Time ||
               (Before.There.Thread && Here.Thread != Before.There.Thread) ||
               Call.selectedThread(Loaded) != Here.Thread ||
               Call.selectedFrame().GetFrameID() != 0;
  return !Moved && Before.Expression == Call.text() ? &Before : nullptr;
}

Expected<WatchedAgain> watchedAgain(CommandCall &Call,
                                    target::LoadedTrace &Loaded) {
  const Asked *Before = askedBefore(Call, Loaded);
  Expected<Watched> Here = watchedMemory(Call, Loaded);
  if (!Before) {
    if (!Here)
      return Here.takeError();
    return WatchedAgain{std::move(*Here), ""};
  }
  WatchedAgain Result{Before->What, ""};
  const answers::AddressRange &Range = Before->What.Range;
  if (Here && Here->Range.First == Range.First &&
      Here->Range.Last == Range.Last)
    return Result;
  std::string Meaning = Here ? formatv("is at {0:x} ('--here' asks about that)",
                                       Here->Range.First)
                                   .str()
                             : "means nothing";
  consumeError(Here.takeError());
  Result.Note = formatv("as before the jump, this is the memory at {0:x}, {1} "
                        "byte(s); here {2} {3}",
                        Range.First, Range.Last - Range.First + 1,
                        Before->Expression, Meaning);
  return Result;
}

void rememberWatched(CommandCall &Call, target::LoadedTrace &Loaded,
                     const Watched &What, session::Position There) {
  uint32_t Process = Loaded.process().GetUniqueID();
  if (Call.has("address"))
    lastAsked().erase(Process);
  else
    lastAsked()[Process] = {Call.text(), What, There};
}

} // namespace chronicle::commands
