// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The program at one moment: its running thread, registers and memory.

#ifndef CHRONICLE_QUERY_STATE_MOMENT_H
#define CHRONICLE_QUERY_STATE_MOMENT_H

#include "query/answers/Memory.h"
#include "query/answers/Registers.h"
#include "query/state/StateCache.h"

namespace chronicle::state {

/// The state at T. Each question costs one cursor: at worst the replay of a
/// block. A thread that does not run in that block costs another block, which
/// is read and rarely replayed.
class Moment {
public:
  Moment(StateCache &Cache, Timestamp T) : Cache(Cache), T(T) {}

  /// The thread that runs. At the end of the run, the one that a signal killed,
  /// or that ran last.
  llvm::Expected<uint32_t> thread() const;
  llvm::Expected<answers::Registers> registers(uint32_t Thread) const;
  /// Pages that the block does not write cost one page chunk each, and no
  /// replay.
  llvm::Expected<answers::MemoryContents> memory(uint64_t Address,
                                                 uint64_t Length) const;

private:
  StateCache &Cache;
  const Timestamp T;
};

} // namespace chronicle::state

#endif
