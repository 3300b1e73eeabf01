// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What an x86-64 instruction does to the flow of control.

#ifndef CHRONICLE_QUERY_CONTROL_INSTRUCTIONDECODER_H
#define CHRONICLE_QUERY_CONTROL_INSTRUCTIONDECODER_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <memory>
#include <optional>

namespace chronicle::control {

/// An instruction as far as the flow of control is concerned.
struct Decoded {
  enum Kind {
    Plain, ///< goes on behind it
    Branch,
    Jump,
    IndirectJump,
    Call,
    IndirectCall,
    Return,
    Trap, ///< ud2 and the like: does not go on
  };
  Kind What = Plain;
  uint8_t Size = 0;
  uint64_t Target = 0; ///< of a branch, a jump or a call
};

/// LLVM's disassembler. Making one costs some microseconds; one thread at a
/// time.
class InstructionDecoder {
public:
  InstructionDecoder();
  ~InstructionDecoder();
  /// Nothing: not an instruction.
  std::optional<Decoded> decode(llvm::ArrayRef<uint8_t> Bytes,
                                uint64_t Address) const;

private:
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace chronicle::control

#endif
