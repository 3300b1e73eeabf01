// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where a value came from.

#ifndef CHRONICLE_QUERY_ANSWERS_ORIGIN_H
#define CHRONICLE_QUERY_ANSWERS_ORIGIN_H

#include "query/answers/RegisterWrite.h"
#include <string>

namespace chronicle::answers {

/// Where bytes are: in memory, or in the guest state of a thread.
struct ValuePlace {
  bool InMemory = true;
  uint64_t Address = 0; ///< or the offset in the guest state
  uint32_t Size = 0;
  uint32_t Thread = 0; ///< whose registers
};

/// What made a value.
enum class OriginKind {
  Computed,     ///< an instruction; Operands are what it computed it from
  Constant,     ///< an instruction has it in its code
  Helper,       ///< an instruction that replay cannot compute, such as cpuid
  SystemCall,   ///< the kernel
  Signal,       ///< the delivery of a signal, or the return from a handler
  Mapping,      ///< the contents of a mapped file
  Startup,      ///< the system, when the program or the thread started
  Outside,      ///< another process
  NeverWritten, ///< memory that nothing wrote before
  Unknown,      ///< not followed: the limit was reached, or a search was ended
};

/// One place that the value was written to on its way, or where it was made.
struct OriginStep {
  Timestamp Time = 0; ///< when To was written, as Write::Time
  uint32_t Thread = 0;
  uint64_t Pc = 0;
  bool ByInstruction = true;
  ValuePlace To;
  std::vector<uint8_t> Value; ///< what was written there
  /// Which bytes of the value that was asked about these are. Those beyond,
  /// which zero or sign extension makes, are left out.
  uint32_t PartOffset = 0;
  /// The step that this one leads to: the index in OriginAnswer::Steps, or
  /// nothing for the first.
  std::optional<size_t> Next;

  /// If the value was made here.
  std::optional<OriginKind> Made;
  std::string Operation; ///< of a value that was computed: "Add32"
  struct Operand {
    ValuePlace Place;
    std::vector<uint8_t> Value;
  };
  std::vector<Operand> Operands;
  uint32_t SystemCall = 0; ///< its number
};

/// The way of a value, newest step first. A value whose parts came on different
/// ways has several steps with the same Next.
struct OriginTrail {
  std::vector<OriginStep> Steps;
  bool Complete = true; ///< false: the limit was reached, or it was cancelled
};

} // namespace chronicle::answers

#endif
