// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes LLDB take a thread's frames from history instead of from its stack.

#ifndef CHRONICLE_LLDB_PLUGIN_LLDB_HISTORYUNWINDER_H
#define CHRONICLE_LLDB_PLUGIN_LLDB_HISTORYUNWINDER_H

#include "lldb-plugin/session/TimeTravel.h"
#include "lldb/API/LLDB.h"
#include <functional>

namespace chronicle::internals {

/// Gives every thread that the process has now an unwinder that asks history,
/// unless the thread has one already. LLDB keeps its threads from stop to stop,
/// so the caller does this at each stop. Costs the registers of each thread,
/// which are known already, and the function of each that has moved since.
/// Where returns the present position. T and Where must live as long as the
/// process's threads; T is kept alive.
void installHistoryUnwinders(lldb::SBProcess Process,
                             const std::shared_ptr<const query::Trace> &T,
                             const std::function<session::Position()> &Where);

} // namespace chronicle::internals

#endif
