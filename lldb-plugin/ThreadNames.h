// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A debugger names threads as the system did; the trace counts them.

#ifndef CHRONICLE_LLDB_PLUGIN_THREADNAMES_H
#define CHRONICLE_LLDB_PLUGIN_THREADNAMES_H

#include "query/Trace.h"

namespace chronicle {

/// What the system called the thread; of a thread there never was, its number.
uint64_t osThread(const Trace &T, uint32_t Number);

/// The number of the thread that the system calls so at that moment; before it
/// starts and after it ends, too, as long as no other one has its name. 0:
/// there never was one. Looks at all threads of the run.
uint32_t threadNumber(const Trace &T, uint64_t OsThread, Timestamp Now);

} // namespace chronicle

#endif
