// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What Chronicle needs of LLDB beyond its public API, for callers that know
/// only the public API. PrivateLldb.h lists the private parts behind it.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_LLDBINTERNALS_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_LLDBINTERNALS_H

#include "lldb/API/LLDB.h"
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace chronicle::internals {

/// Empty if this LLDB is the release whose headers Chronicle was built with,
/// else a sentence about the difference. Then no other function of this room
/// may be called: the private classes may have another layout.
std::string unsupportedVersion();
/// Whether the group of commands `chronicle` exists, because the plugin was
/// loaded before: by ~/.lldbinit, for example.
bool hasCommands(lldb::SBCommandInterpreter Interpreter);
/// Makes `process trace load` another name for `chronicle load`, which must
/// exist. \return false if this LLDB has no `process trace`.
bool addProcessTraceLoad(lldb::SBCommandInterpreter Interpreter);
/// Whether LLDB itself reads commands and shows a stop when it comes. Otherwise
/// another program does, such as lldb-dap.
bool hasPrompt(lldb::SBCommandInterpreter Interpreter);
/// Whether Ctrl-C was pressed since the present command began. Any thread may
/// ask.
bool commandInterrupted(lldb::SBCommandInterpreter Interpreter);
/// Makes later runs go forward again. After a reverse continue, LLDB would run
/// backward whatever the next command is.
void resetDirection(lldb::SBProcess Process);
/// Returns a function that prepares the target's process for a stop. It numbers
/// the threads by their places in OsThreads, from 1 on, and lets LLDB run
/// expressions that it cannot interpret. Call it before each stop is reported
/// to LLDB. It may be called on any thread while LLDB waits for that stop;
/// nothing else touches the same members then.
std::function<void()> stopPreparation(lldb::SBTarget Target,
                                      const std::vector<uint64_t> &OsThreads);
/// Makes LLDB read memory again that it has read since the process stopped. Any
/// thread may call this.
void forgetMemory(lldb::SBProcess Process);
/// Makes LLDB leave out the innermost Hidden inlined functions, all of which
/// must begin at the thread's next instruction: LLDB then shows the call of the
/// outermost of them as the innermost frame.
void hideScopes(lldb::SBThread Thread, unsigned Hidden);
/// How many inlined functions LLDB leaves out now.
unsigned hiddenScopes(lldb::SBThread Thread);

} // namespace chronicle::internals

#endif
