// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a thread's own copy of a thread-local variable is.

#ifndef CHRONICLE_QUERY_THREADLOCALS_H
#define CHRONICLE_QUERY_THREADLOCALS_H

#include "query/Symbols.h"

namespace chronicle {

/// The address of a thread-local variable in a thread at a moment. Of the
/// executable's from the thread's fs base, as its code finds them; of a
/// library's from what the dynamic linker told the library's code, read from
/// the recorded memory: an offset from the fs base, or a number in the thread's
/// table of blocks (as glibc has it). An error where that says nothing certain:
/// then the thread has none yet, or nobody can tell. Costs the registers and a
/// few words of memory at that moment.
llvm::Expected<uint64_t> threadLocalAddress(const Trace &T,
                                            const SymbolAt &Variable,
                                            uint32_t Thread, Timestamp At);

} // namespace chronicle

#endif
