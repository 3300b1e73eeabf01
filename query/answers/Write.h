// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// A write to memory and its cause.

#ifndef CHRONICLE_QUERY_ANSWERS_WRITE_H
#define CHRONICLE_QUERY_ANSWERS_WRITE_H

#include "trace-format/TraceData.h"
#include <cstdint>
#include <vector>

namespace chronicle::answers {

/// What wrote to memory.
enum class Writer {
  Instruction,
  SystemCall,
  Signal,
  Mapping,
  Thread,
  Core,
  Outside
};

struct Write {
  Timestamp Time = 0;
  uint32_t Thread = 0;
  Writer By = Writer::Instruction;
  uint64_t Pc = 0; ///< of the instruction; of other writers, the next one
  uint64_t Address = 0;
  /// All bytes of the write, including those outside the range asked for.
  std::vector<uint8_t> Old, New;
  uint32_t SystemCall = 0; ///< its number, if a system call wrote

  /// The first moment at which the new bytes are in memory. State at a moment
  /// is that before its instruction, so that an instruction's write is visible
  /// from the next moment on; other writes happen between instructions.
  Timestamp visibleFrom() const {
    return By == Writer::Instruction ? Time + 1 : Time;
  }
};

} // namespace chronicle::answers

#endif
