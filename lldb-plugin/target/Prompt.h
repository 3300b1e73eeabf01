// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// LLDB's prompt with the time in it.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_PROMPT_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_PROMPT_H

#include "lldb/API/LLDB.h"

namespace chronicle::target {

/// Makes the prompt show the time of the loaded trace, or brings back the
/// prompt from before.
void showTimeInPrompt(lldb::SBDebugger Debugger, bool Show);

/// Must be called at each stop: the prompt shows the new time, if it shows one.
void updatePrompt(lldb::SBDebugger Debugger);

} // namespace chronicle::target

#endif
