// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A write to a register and its cause.

#ifndef CHRONICLE_QUERY_ANSWERS_REGISTERWRITE_H
#define CHRONICLE_QUERY_ANSWERS_REGISTERWRITE_H

#include "query/answers/Registers.h"
#include "query/answers/Write.h"
#include <optional>

namespace chronicle::answers {

/// Bytes of the guest state (trace-format/GuestState.h).
struct StateRange {
  uint32_t Offset = 0, Size = 0;
  bool overlaps(uint32_t OtherOffset, uint32_t OtherSize) const {
    return OtherOffset < Offset + Size && Offset < OtherOffset + OtherSize;
  }
};

/// A register has a new value, or the same one again.
struct RegisterWrite {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  Writer By = Writer::Instruction;
  uint64_t Pc = 0; ///< of the instruction; of other writers 0
  BlockNumber Block = 0;
  std::optional<size_t> Event; ///< index in the block, unless an instruction
  uint32_t SystemCall = 0;     ///< its number, if a system call wrote

  /// As Write::visibleFrom().
  Timestamp visibleFrom() const {
    return By == Writer::Instruction ? Time + 1 : Time;
  }
};

} // namespace chronicle::answers

#endif
