// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What a thread did last before a moment, and what it does next.

#ifndef CHRONICLE_QUERY_CALLS_LASTINSTRUCTION_H
#define CHRONICLE_QUERY_CALLS_LASTINSTRUCTION_H

#include "query/answers/Execution.h"
#include "query/code/CodeTable.h"
#include "query/state/StateCache.h"

namespace chronicle::calls {

/// The last instruction that the thread completed before T; nothing: it ran
/// none. Walks the sequence of the block of T, or of the thread's last block
/// before it, and replays nothing.
llvm::Expected<std::optional<answers::Execution>>
lastInstruction(state::StateCache &States, const code::CodeTable &Code,
                uint32_t Thread, Timestamp T);

/// Whether the thread goes on at T with the instruction at Pc, in the block of
/// T. Walks its sequence.
llvm::Expected<bool> executesNext(state::StateCache &States,
                                  const code::CodeTable &Code, uint32_t Thread,
                                  Timestamp T, uint64_t Pc);

} // namespace chronicle::calls

#endif
