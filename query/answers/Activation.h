// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// One call of a procedure.

#ifndef CHRONICLE_QUERY_ANSWERS_ACTIVATION_H
#define CHRONICLE_QUERY_ANSWERS_ACTIVATION_H

#include "trace-format/TraceData.h"
#include <cstdint>
#include <optional>

namespace chronicle::answers {

/// One call of a procedure, as history knows it. Or a place where nothing can
/// be executed, if a jump or a return (not a call) led there: then Jumped is
/// when, CallSite is that instruction, and the activation outside of this one
/// is that of the code that jumped, as it was then.
struct Activation {
  Timestamp Entry = 0; ///< of the callee's first instruction
  /// The pc of the call; 0: entered otherwise (thread start, signal).
  uint64_t CallSite = 0;
  uint64_t Return = 0; ///< after the call, where it returns to; 0 as above
  uint64_t Callee = 0; ///< pc at Entry
  uint64_t StackPointer = 0; ///< at entry: where the return address is
  uint32_t Thread = 0;
  bool Signal = false;             ///< a signal handler, entered by the kernel
  std::optional<Timestamp> Jumped; ///< see above; nothing: a call
  uint64_t Pc = 0; ///< where it is at the moment asked about: in the innermost
                   ///< the pc, in the others the call under way
};

} // namespace chronicle::answers

#endif
