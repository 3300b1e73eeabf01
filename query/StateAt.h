// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Threads, registers and memory at a moment: the answers of class Trace.

#ifndef CHRONICLE_QUERY_STATEAT_H
#define CHRONICLE_QUERY_STATEAT_H

#include "query/StateCache.h"

namespace chronicle {

/// Each costs one cursor: a block's replay at worst, and for a thread that does
/// not run in that block another block, which is read and rarely replayed.
llvm::Expected<uint32_t> threadAt(StateCache &Cache, Timestamp T);
llvm::Expected<Registers> registersAt(StateCache &Cache, uint32_t Thread,
                                      Timestamp T);
/// A page that the block did not touch costs one page chunk.
llvm::Expected<MemoryContents> memoryAt(StateCache &Cache, uint64_t Address,
                                        uint64_t Length, Timestamp T);

} // namespace chronicle

#endif
