// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What LLDB's public API cannot do. Everything here depends on the layout of
/// LLDB's private classes, which holds for one release only: matches() says if
/// this LLDB is the one whose headers were used. Where it is not, the other
/// functions do nothing.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDBINTERNALS_H
#define CHRONICLE_LLDB_PLUGIN_LLDBINTERNALS_H

#include "lldb/API/LLDB.h"
#include <cstdint>
#include <functional>
#include <vector>

namespace chronicle::internals {

bool matches();
/// Makes `process trace load` another name for `chronicle load`, which must be
/// there already, and lets it complete file names. False: could not.
bool addProcessTraceLoad(lldb::SBCommandInterpreter Interpreter);
/// Whether Ctrl-C was pressed while the present command runs. Any thread may
/// ask; LLDB itself tells only the one that runs the command.
bool commandInterrupted(lldb::SBCommandInterpreter Interpreter);
/// After a reverse continue LLDB goes on in that direction, whatever it is
/// asked to do next. This ends that.
void resetDirection(lldb::SBProcess Process);
/// LLDB numbers threads as it first sees them, and anew when one comes back
/// that was gone. What this returns, called whenever a stop is about to be
/// told, makes their numbers their places in OsThreads, from 1 on. It may be
/// called from any thread while LLDB waits for the stop, when nobody else
/// touches the numbers.
std::function<void()> threadNumbering(lldb::SBTarget Target,
                                      std::vector<uint64_t> OsThreads);
/// At the first instruction of an inlined function LLDB may show it or its
/// caller as the innermost frame. This makes it leave out so many inlined
/// functions.
void hideScopes(lldb::SBThread Thread, unsigned Hidden);
/// How many it leaves out now.
unsigned hiddenScopes(lldb::SBThread Thread);

} // namespace chronicle::internals

#endif
