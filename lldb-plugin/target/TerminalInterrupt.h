// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Ctrl-C in LLDB's terminal, for what LLDB cannot interrupt.

#ifndef CHRONICLE_LLDB_PLUGIN_TARGET_TERMINALINTERRUPT_H
#define CHRONICLE_LLDB_PLUGIN_TARGET_TERMINALINTERRUPT_H

namespace chronicle::target {

/// Calls Interrupt, on a thread of its own, at each Ctrl-C (SIGINT). If that
/// returns false, LLDB does what it always does. Only the first call has an
/// effect, and only in a program that handles SIGINT itself, as the `lldb`
/// program does.
///
/// LLDB halts the process from inside its signal handler. During a run over a
/// breakpoint whose condition is false again and again, it finds the process
/// stopped nearly every time and does nothing. If it finds it running, it takes
/// the next stop at the breakpoint for the end of the run, without looking at
/// the condition and without running stop hooks.
void onTerminalInterrupt(bool (*Interrupt)());

} // namespace chronicle::target

#endif
