// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Makes LLDB take a thread's frames from history instead of from its stack.

#ifndef CHRONICLE_LLDB_PLUGIN_HISTORYUNWINDER_H
#define CHRONICLE_LLDB_PLUGIN_HISTORYUNWINDER_H

#include "lldb-plugin/TimeTravel.h"
#include "lldb/API/LLDB.h"
#include <functional>

namespace chronicle {

/// Gives every thread that the process has now an unwinder that asks history,
/// if it has none yet. LLDB keeps its threads from stop to stop, so this is to
/// be called at each stop, and does something when there are new ones. Where
/// LLDB is not the release whose private classes we know (LldbInternals.h), it
/// does nothing, and LLDB unwinds as ever.
/// T and Where, which tells the present position, must live as long as the
/// process's threads; T is kept alive.
void installHistoryUnwinders(lldb::SBProcess Process,
                             std::shared_ptr<const Trace> T,
                             std::function<Position()> Where);

} // namespace chronicle

#endif
