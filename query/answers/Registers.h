// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The registers of a thread at a moment.

#ifndef CHRONICLE_QUERY_ANSWERS_REGISTERS_H
#define CHRONICLE_QUERY_ANSWERS_REGISTERS_H

#include "trace-format/Stream.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>

namespace chronicle::answers {

/// A thread's complete state: the guest state of trace-format/GuestState.h, and
/// readers for what people ask for.
struct Registers {
  std::array<uint8_t, CH_GUEST_STATE_SIZE> State;
  uint64_t word(unsigned Offset) const;
  uint64_t rip() const;
  uint64_t rsp() const;
  /// rflags, evaluated.
  uint64_t flags() const;
  /// ymm0 to ymm15.
  llvm::ArrayRef<uint8_t> ymm(unsigned N) const;
};

} // namespace chronicle::answers

#endif
