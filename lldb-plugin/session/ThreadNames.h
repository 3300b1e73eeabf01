// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The two names of a thread: debuggers use the system's thread ID, a trace
/// counts its threads.

#ifndef CHRONICLE_LLDB_PLUGIN_SESSION_THREADNAMES_H
#define CHRONICLE_LLDB_PLUGIN_SESSION_THREADNAMES_H

#include "query/Trace.h"

namespace chronicle::session {

/// The system's ID of a thread. For a thread that never existed, its number.
uint64_t osThread(const query::Trace &T, uint32_t Number);

/// The number of the thread that has the ID at that moment. A thread keeps its
/// ID before it starts and after it ends as long as no other thread has it. 0:
/// no thread ever had that ID. Looks at all threads of the run.
uint32_t threadNumber(const query::Trace &T, uint64_t OsThread, Timestamp Now);

} // namespace chronicle::session

#endif
