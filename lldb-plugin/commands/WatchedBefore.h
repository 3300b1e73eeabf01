// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Asking about the same memory again after a jump.

#ifndef CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDBEFORE_H
#define CHRONICLE_LLDB_PLUGIN_COMMANDS_WATCHEDBEFORE_H

#include "lldb-plugin/commands/WatchedMemory.h"

namespace chronicle::commands {

/// Memory that a command is about, and a sentence if its name means something
/// else at the present moment.
struct WatchedAgain {
  Watched What;
  std::string Note;
};

/// The memory that the command names. If the same expression was asked about
/// before, and the jump to that write is why the process is here, it is the
/// same memory as before: at the write, which may be in another function, the
/// name may mean something else. --here asks for what it means here.
llvm::Expected<WatchedAgain> watchedAgain(CommandCall &Call,
                                          target::LoadedTrace &Loaded);

/// Must be called for a jump to a write. LLDB may still be on its way There.
void rememberWatched(CommandCall &Call, target::LoadedTrace &Loaded,
                     const Watched &What, session::Position There);

} // namespace chronicle::commands

#endif
