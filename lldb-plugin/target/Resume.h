// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Commands of LLDB that let the process run, and what is printed of its stop.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_RESUME_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_RESUME_H

#include "lldb/API/LLDB.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace chronicle::target {

/// While it lives, commands of LLDB that let the process run wait for its stop
/// and return what LLDB prints of it. Without it LLDB prints the stop from
/// another thread, before or after the answer of the command. Does nothing
/// where there is no prompt of LLDB, as in lldb-dap: that client waits for the
/// events, which only arrive if no command waits for them.
class WaitForStops {
public:
  explicit WaitForStops(lldb::SBDebugger Debugger);
  ~WaitForStops();
  WaitForStops(const WaitForStops &) = delete;
  WaitForStops &operator=(const WaitForStops &) = delete;

private:
  lldb::SBDebugger Debugger;
  bool WasAsync;
};

/// What LLDB printed of a stop, without the lines "Process 1 resuming" and
/// "Process 1 stopped": the process of a trace never runs for its user.
std::string stopText(llvm::StringRef Printed, lldb::SBProcess Process);

/// `process continue --reverse`, adding what it prints of the stop.
void runReverse(lldb::SBDebugger Debugger, lldb::SBCommandReturnObject &Result);

} // namespace chronicle::target

#endif
